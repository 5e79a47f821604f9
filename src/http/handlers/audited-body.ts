/** The body as the audit trail keeps it; a request without one is the empty object. */
export function auditedBody(rawBody: Buffer): string {
  return rawBody.length === 0 ? '{}' : rawBody.toString('utf8')
}
