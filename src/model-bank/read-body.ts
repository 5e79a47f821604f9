import type { IncomingMessage } from 'node:http'

const BYTES_MAX = 1_048_576

/** @throws when the body is longer than any that belongs here */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
    size += bytes.length
    if (size > BYTES_MAX) throw new RangeError('the body is longer than 1 MiB')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
