-- An OTLP/JSON value as text: the bare value of strings, numbers, booleans and bytes, OTLP/JSON of lists and maps, '' of none.
CREATE OR REPLACE FUNCTION attributeText AS (json) ->
    multiIf(
        JSONHas(json, 'stringValue'), JSONExtractString(json, 'stringValue'),
        JSONHas(json, 'intValue'), JSONExtractString(json, 'intValue'),
        JSONHas(json, 'boolValue'), JSONExtractRaw(json, 'boolValue'),
        JSONHas(json, 'doubleValue'), trim(BOTH '"' FROM JSONExtractRaw(json, 'doubleValue')),
        JSONHas(json, 'bytesValue'), JSONExtractString(json, 'bytesValue'),
        json = '{}', '',
        json)
