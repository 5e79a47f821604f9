import { z } from 'zod'
import { RECEIVER_LANGUAGES, readReceiver, receiverFile } from '../../src/lib/receivers.ts'
import { standardSecret } from '../../src/lib/webhook-signature.ts'
import { getWebhookSecret } from '../../src/wire/secrets.ts'
import { usageError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { findSecret } from './listen-secret.ts'
import { SECRET_ACTIONS } from './secret-actions.ts'
import { overlapLines } from './secret-view.ts'

const Language = z.enum(RECEIVER_LANGUAGES)

const show = command({
  command: 'secret show',
  summary: 'Show the masked signing secret and its overlap',
  examples: ['svc secret show', 'svc secret show --format whsec', 'svc secret show -q previous_expires_at'],
  flags: {
    language: { value: 'language', summary: 'Also show a receiver in this language', choices: RECEIVER_LANGUAGES },
    format: { value: 'format', summary: 'Print the whole secret for Standard Webhooks', choices: ['whsec'] },
  },
  async run(context, input) {
    const { language, format } = input
    if (format !== undefined) return showStandard(context)
    const { body } = await call(context.client(), getWebhookSecret, { query: { language } })
    context.print.record(body, overlapLines(body), {
      id: body.masked_secret,
      ...(language === undefined ? {} : { after: body.verification_snippet.trimEnd() }),
    })
    if (language === undefined && !context.print.isMachine) context.note('\nA receiver to copy: svc secret snippet')
  },
})

/** The service shows no secret again, so it is that of this machine: of the environment, or of svc.json. */
function showStandard(context: Context): void {
  const known = findSecret(context, context.client())
  if (known === undefined)
    throw usageError(
      'the secret is not known here, and the service shows it once: when it is made',
      'SVC_WEBHOOK_SECRET=<secret> svc secret show --format whsec',
    )
  const secret = standardSecret(known.read())
  if (context.print.isMachine) context.print.record({ secret }, [], { id: secret })
  else context.io.stdout.write(`${secret}\n`)
}

/** Needs no service: the receivers come with the package. */
const snippet = command({
  command: 'secret snippet',
  summary: 'Print a complete webhook receiver to copy',
  details: 'The receiver verifies signatures, and processes each event once.',
  examples: ['svc secret snippet > receiver.mjs', 'svc secret snippet shell > receiver.sh'],
  flags: {
    language: {
      value: 'language',
      summary: 'Programming language',
      positional: true,
      choices: RECEIVER_LANGUAGES,
      initial: 'node',
    },
  },
  async run({ print, io }, input) {
    const language = Language.catch('node').parse(input.language)
    const text = await readReceiver(language)
    const file = receiverFile(language)
    if (print.isMachine) print.record({ language, file, text }, [], { id: file })
    else io.stdout.write(text)
  },
})

export const SECRET = [
  {
    command: 'secret',
    details: 'During the overlap of a rotation, it also shows until when the previous secret signs.',
    examples: ['svc secret show', 'svc secret snippet python > receiver.py'],
  },
  show,
  snippet,
  ...SECRET_ACTIONS,
]
