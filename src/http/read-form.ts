import type { IncomingMessage } from 'node:http'
import { OPEN_BODY_BYTES_MAX, readBody } from './body.ts'

/**
 * Reads the body of an HTML form.
 * @throws {DomainError} as `readBody` does
 */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(req, OPEN_BODY_BYTES_MAX)).toString('utf8'))
}
