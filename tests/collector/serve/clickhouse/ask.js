// Asks what a user of ClickHouse's JavaScript client would ask, and prints what came of it as one JSON object.
const { createClient } = require('@clickhouse/client');

async function main() {
  const compression = { response: true, request: true };
  const client = createClient({ url: process.argv[2], pathname: '/clickhouse', compression, max_open_connections: 4 });
  const said = { ping: await client.ping() };

  const rows = await client.query({
    query: 'SELECT number AS n, toString(number) AS s FROM numbers(3)',
    format: 'JSONEachRow',
  });
  said.rows = await rows.json();

  const bound = await client.query({
    query: 'SELECT {a:String} AS a, {b:Array(UInt8)} AS b, {d:DateTime} AS d',
    query_params: { a: "it's\ta \\ tab", b: [1, 2], d: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)) },
    format: 'JSON',
  });
  said.bound = (await bound.json()).data;

  const settings = { max_execution_time: 5, output_format_json_quote_64bit_integers: 1 };
  const capped = await client.query({ query: 'SELECT 1 AS one', format: 'JSON', clickhouse_settings: settings });
  said.meta = (await capped.json()).meta;

  said.streamed = 0;
  const many = await client.query({ query: 'SELECT number FROM numbers(100000)', format: 'CSV' });
  for await (const some of many.stream()) said.streamed += some.length;

  try {
    await client.query({ query: "SELECT file('/etc/hostname')", format: 'JSON' });
    said.error = 'none';
  } catch (error) {
    said.error = { code: error.code, type: error.type };
  }
  try {
    await client.insert({ table: 'runs', values: [{ project: 'x' }], format: 'JSONEachRow' });
    said.insert = 'none';
  } catch (error) {
    said.insert = { code: error.code, type: error.type };
  }
  await client.close();
  console.log(JSON.stringify(said));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
