import { outcomeText } from '../../src/lib/outcome-text.ts'
import { getWebhookSecret } from '../../src/wire/secrets.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'

export const REJECTED = 'http_401'

/** How an attempt ended; where the receiver rejects the signature, also which secret it was made with. */
export async function outcomeFor(client: Client, outcome: string): Promise<string> {
  if (outcome !== REJECTED) return outcomeText(outcome)
  return `${outcomeText(outcome)}; does it have the secret${await endOfSecret(client)}?`
}

/** Some roles send tests and may not look at the secret: they are told no more than whose it is. */
async function endOfSecret(client: Client): Promise<string> {
  try {
    const { body } = await call(client, getWebhookSecret, {})
    return ` ending in ${body.masked_secret.replace(/^\*+/, '')}`
  } catch (error) {
    if (error instanceof CliError) return ' of this merchant'
    throw error
  }
}
