// Sends the service's traces to a collector. Beside svc: npm install @opentelemetry/sdk-node
// Then: NODE_OPTIONS="--import $PWD/tracing.mjs" OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 svc serve
import { NodeSDK } from '@opentelemetry/sdk-node'

// No instrumentations: the service makes the spans of its requests, webhooks and calls to banks itself.
const sdk = new NodeSDK({ serviceName: process.env.OTEL_SERVICE_NAME ?? 'svc', instrumentations: [] })
sdk.start()

// When all work is done, so that the spans of the last requests are sent too.
process.once('beforeExit', () => sdk.shutdown().catch(console.error))
