import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { RECEIVER_LANGUAGES, readReceiver, receiverFile } from '../../src/lib/receivers.ts'
import { getWebhookSecret } from '../../src/wire/secrets.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { SECRET_ACTIONS } from './secret-actions.ts'
import { overlapLines } from './secret-view.ts'
import { subcommand } from '../kit/option-values.ts'

const Language = z.enum(RECEIVER_LANGUAGES)

const ShowOptions = z.object({ language: Language.optional() })

async function show(context: Context, { options }: InputOf<typeof ShowOptions>): Promise<CommandResult> {
  const { language } = options
  const { body } = await call(context.client(), getWebhookSecret, { query: { language } })
  context.print.record({
    item: body,
    id: body.masked_secret,
    lines: overlapLines(body),
    ...(language === undefined ? {} : { after: body.verification_snippet.trimEnd() }),
  })
  if (language === undefined && !context.print.isMachine) context.note('\nA receiver to copy: svc secret snippet')
}

/** Needs no service: the receivers come with the package. */
async function snippet({ print, io }: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const language = Language.catch('node').parse(args[0])
  const text = await readReceiver(language)
  const file = receiverFile(language)
  if (print.isMachine) print.record({ item: { language, file, text }, id: file, lines: [] })
  else io.stdout.write(text)
}

/** `svc secret`: what the merchant's webhooks are signed with (decision 37). */
export function addSecret(secret: Command, runtime: Runtime): void {
  secret.addHelpText(
    'after',
    '\nDuring the overlap of a rotation, it also shows until when the previous secret signs.\n\nExamples:\n  svc secret show\n  svc secret snippet python > receiver.py\n',
  )
  subcommand(secret, 'show', 'Show the masked signing secret and its overlap')
    .addOption(new Option('--language <language>', 'Also show a receiver in this language').choices(RECEIVER_LANGUAGES))
    .addHelpText('after', '\nExamples:\n  svc secret show\n  svc secret show -q previous_expires_at\n')
    .action(action(runtime, ShowOptions, show))
  subcommand(secret, 'snippet', 'Print a complete webhook receiver to copy')
    .addArgument(new Argument('[language]', 'Programming language').choices(RECEIVER_LANGUAGES).default('node'))
    .addHelpText(
      'after',
      '\nThe receiver verifies signatures, and processes each event once.\n\nExamples:\n  svc secret snippet > receiver.mjs\n  svc secret snippet shell > receiver.sh\n',
    )
    .action(action(runtime, z.object({}), snippet))
  addActions(secret, runtime, SECRET_ACTIONS)
}
