import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { RECEIVER_LANGUAGES } from '../../src/lib/receivers.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { SECRET_ACTIONS } from './secret-actions.ts'
import { ShowOptions, show, snippet } from './secret-show.ts'

/** `svc secret`: what the merchant's webhooks are signed with (decision 37). */
export function addSecret(secret: Command, runtime: Runtime): void {
  secret.addHelpText(
    'after',
    '\nDuring the overlap of a rotation, it also shows until when the previous secret signs.\n\nExamples:\n  svc secret show\n  svc secret snippet python > receiver.py\n',
  )
  secret
    .command('show')
    .description('Show the masked signing secret and its overlap')
    .addOption(new Option('--language <language>', 'Also show a receiver in this language').choices(RECEIVER_LANGUAGES))
    .addHelpText('after', '\nExamples:\n  svc secret show\n  svc secret show -q previous_expires_at\n')
    .action(action(runtime, ShowOptions, show))
  secret
    .command('snippet')
    .description('Print a complete webhook receiver to copy')
    .addArgument(new Argument('[language]', 'Programming language').choices(RECEIVER_LANGUAGES).default('node'))
    .addHelpText(
      'after',
      '\nThe receiver verifies signatures, and processes each event once.\n\nExamples:\n  svc secret snippet > receiver.mjs\n  svc secret snippet shell > receiver.sh\n',
    )
    .action(action(runtime, z.object({}), snippet))
  addActions(secret, runtime, SECRET_ACTIONS)
}
