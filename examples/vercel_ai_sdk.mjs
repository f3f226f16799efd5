// Vercel AI SDK 5 and 6: telemetry is asked for call by call; each trial runs under a span with its identity.
//
//     npm install ai @ai-sdk/openai zod @opentelemetry/api @opentelemetry/sdk-node \
//         @opentelemetry/exporter-trace-otlp-proto
//
// Content arrives by default (recordInputs and recordOutputs). OPENAI_API_KEY and OPENAI_BASE_URL say which model answers.
import { createOpenAI } from '@ai-sdk/openai';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter() }); // reads OTEL_EXPORTER_OTLP_ENDPOINT
sdk.start();

const getOrder = tool({
  description: 'What is known of an order.',
  inputSchema: z.object({ order_id: z.string() }),
  execute: async ({ order_id }) => `order ${order_id}: shipped`,
});
const model = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL }).chat(process.env.MODEL ?? 'gpt-4o-mini');

for (const trial of ['0', '1']) {
  const attributes = { 'passhat.task.id': 'where-is-my-order', 'passhat.trial.id': trial };
  await trace.getTracer('orders').startActiveSpan('trial', { attributes }, async (root) => {
    const { text } = await generateText({
      model,
      tools: { get_order: getOrder },
      stopWhen: stepCountIs(5),
      prompt: 'Where is order A1?',
      experimental_telemetry: { isEnabled: true, functionId: 'orders' },
    });
    root.setAttribute('passhat.outcome', text.includes('shipped') ? 'pass' : 'fail');
    root.end();
  });
}
await sdk.shutdown(); // sends what is waiting
