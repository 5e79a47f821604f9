// A receiver of webhooks: it checks who sent them, and acts once on each event. Node 18 or later, no packages.
//   SVC_WEBHOOK_SECRET=<your signing secret> PORT=4242 node receiver.mjs
// It listens on this machine alone: put your web server, with TLS, in front of it.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.SVC_WEBHOOK_SECRET
if (!secret) throw new Error('SVC_WEBHOOK_SECRET is not set')
const BODY_MAX = 1024 * 1024

// The events that were acted on, or are just now. A restart forgets them: in production the note and the act belong in
// one database transaction, the note into a table with a unique eventId, kept for 30 days or longer.
const seen = new Set()

function act(event) {
  console.log(`${event.eventType} ${event.eventId}`)
}

// The signature is made over the bytes as they arrived: a body that was parsed and written again has another one. While
// a rotation's overlap lasts there are two, of the new secret and of the one before; either proves the sender.
function isSigned(body, headers) {
  const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
  return ['x-service-signature', 'x-service-signature-previous'].some((name) => {
    const given = Buffer.from(String(headers[name] ?? ''))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

// The body's bytes, or null where there are too many; those are read to their end for the answer to arrive, and not kept.
async function readBody(request) {
  if (Number(request.headers['content-length']) > BODY_MAX) return null
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= BODY_MAX) chunks.push(chunk)
  }
  return size > BODY_MAX ? null : Buffer.concat(chunks)
}

async function answer(request) {
  if (request.method !== 'POST') return 405
  const body = await readBody(request)
  if (body === null) return 413
  if (!isSigned(body, request.headers)) return 401
  const event = JSON.parse(body.toString('utf8'))
  // The same event may come again: it is answered at once, and nothing is done twice.
  if (seen.has(event.eventId)) return 200
  seen.add(event.eventId)
  try {
    await act(event)
  } catch (error) {
    // Forgotten and answered 500, it is sent again.
    seen.delete(event.eventId)
    throw error
  }
  return 200
}

const server = createServer(async (request, response) => {
  const status = await answer(request).catch((error) => {
    console.error(error)
    return 500
  })
  response.writeHead(status).end()
})
const port = Number(process.env.PORT || 4242)
server.listen(port, '127.0.0.1', () => console.error(`receiving webhooks on port ${port}`))
