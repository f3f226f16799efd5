// Sends COUNT spans in batches of 200 with the JavaScript SDK's OTLP/JSON exporter to URL, then prints their ids.
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { BasicTracerProvider, BatchSpanProcessor } = require("@opentelemetry/sdk-trace-base");

const [url, count] = process.argv.slice(2);
const exporter = new OTLPTraceExporter({ url, timeoutMillis: 30000 });
const processor = new BatchSpanProcessor(exporter, { maxExportBatchSize: 200, scheduledDelayMillis: 60000 });
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ "service.name": "javascript" }),
  spanProcessors: [processor],
});
const tracer = provider.getTracer("tests");
const ids = [];
for (let i = 0; i < Number(count); i++) {
  const span = tracer.startSpan(`span ${i}`, { attributes: { i, list: ["a", "b"], half: 0.5 } });
  ids.push([span.spanContext().traceId, span.spanContext().spanId]);
  span.end();
}
provider
  .shutdown()
  .then(() => console.log(JSON.stringify(ids)))
  .catch((error) => {
    console.error(String(error));
    process.exit(1);
  });
