import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { RECEIVER_LANGUAGES } from '../../src/lib/receivers.ts'
import { ChangeOptions, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { RotateOptions, endOverlap, rotate } from './secret-change.ts'
import { ShowOptions, show, snippet } from './secret-read.ts'

/** `svc secret`: what the merchant's webhooks are signed with (decision 37). */
export function addSecret(secret: Command, runtime: Runtime): void {
  secret.addHelpText('after', '\nExamples:\n  svc secret show\n  svc secret snippet python > receiver.py\n')
  secret
    .command('show')
    .description('show the secret masked, and until when the one before signs as well')
    .addOption(new Option('--language <language>', 'also show a receiver in it').choices(RECEIVER_LANGUAGES))
    .addHelpText('after', '\nExamples:\n  svc secret show\n  svc secret show -q previous_expires_at\n')
    .action(action(runtime, ShowOptions, show))
  secret
    .command('snippet')
    .description('print a whole receiver to copy, offline: it verifies, and acts once on each event')
    .addArgument(new Argument('[language]', 'what it is written in').choices(RECEIVER_LANGUAGES).default('node'))
    .addHelpText(
      'after',
      '\nExamples:\n  svc secret snippet > receiver.mjs\n  svc secret snippet shell > receiver.sh\n',
    )
    .action(action(runtime, z.object({}), snippet))
  dangerous(secret.command('rotate'))
    .description('make a new secret, printed this once; for a while webhooks carry the signatures of both')
    .option('--overlap <duration>', 'how long the one before signs as well, 0s to 7d (24h)')
    .option('--discard-current', 'where the new one was lost during an overlap: replace it, and keep the one before')
    .addHelpText(
      'after',
      '\nExamples:\n  svc secret rotate\n  svc secret rotate --overlap 1h\n  svc secret rotate --discard-current\n',
    )
    .action(action(runtime, RotateOptions, rotate))
  dangerous(secret.command('end-overlap'))
    .description('end the overlap of a rotation now: only the newest secret signs')
    .addHelpText('after', '\nExamples:\n  svc secret end-overlap\n')
    .action(action(runtime, ChangeOptions, endOverlap))
}
