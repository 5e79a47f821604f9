import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { listBankScenarios } from '../../src/wire/sandbox-faults.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isBoth, sideOf, viewerOf } from '../client/auth/acting-side.ts'
import type { Side, Who } from '../client/auth/acting-side.ts'
import { isLive } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { typedText } from '../client/command-texts.ts'
import { action, durationOf, openClient } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { DataOption } from '../kit/option-values.ts'
import { withProgress } from '../output/progress.ts'
import type { Session } from './model/state.ts'
import { SCREEN_NAMES } from './screen-names.ts'

const UiOptions = z.object({
  readonly: z.boolean().default(false),
  platform: z.boolean().default(false),
  merchant: z.boolean().default(false),
  screen: z.enum(SCREEN_NAMES).optional(),
  interval: z.string().default('5s'),
})

const OF_OPERATORS: ReadonlySet<string> = new Set(['kyb', 'merchants', 'audit', 'banks'])

const INTERVAL_LEAST_MS = 1_000

/** `svc ui`: the console. What draws it is loaded when it is opened, and by no other command. */
export function addUi(command: Command, runtime: Runtime): void {
  command
    .option('--readonly', 'Show everything, and change nothing')
    .addOption(
      new DataOption('--platform', 'Act as the operator (default when signed in as both)').conflicts('merchant'),
    )
    .option('--merchant', 'Act as the merchant when signed in as both')
    .addOption(new Option('--screen <screen>', 'First screen').choices(SCREEN_NAMES))
    .option('--interval <time>', 'Polling interval while the event stream is down', '5s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ui\n  svc ui --merchant\n  svc ui --platform --screen kyb\n  svc ui --readonly --profile live\n',
    )
    .action(action(runtime, UiOptions, ui))
}

async function ui(context: Context, { options }: InputOf<typeof UiOptions>): Promise<CommandResult> {
  checkTerminal(context)
  const { flags } = context
  const intervalMs = durationOf(options.interval, '--interval')
  if (intervalMs < INTERVAL_LEAST_MS) throw usageError('--interval: at least 1s', '--interval 5s')
  const ofScreen = OF_OPERATORS.has(options.screen ?? '') ? 'platform' : undefined
  const half = sideOf(options) ?? ofScreen
  const client = context.client()
  drawsFor(context)
  const connecting = {
    title: `Connecting to ${client.apiUrl}`,
    unit: '',
    // A screen reader would read every turn of it.
    isHidden: context.io.env['INK_SCREEN_READER'] === 'true',
  }
  const where = { io: context.io, json: false, note: context.note }
  const [{ startConsole }, session] = await withProgress(where, connecting, () =>
    Promise.all([import('./start.tsx'), opened(client, { ...options, half, profile: flags.profile })]),
  )
  return startConsole({
    io: context.io,
    stateDir: context.stateDir,
    session,
    screen: options.screen,
    intervalMs,
    typed: (text, client) => typedText(text, { io: context.io, flags, client }),
    open: (wanted) => {
      const profile = wanted.profile ?? flags.profile
      const asked = wanted.half ?? (wanted.profile === undefined ? half : undefined)
      const other = openClient(context.io, { ...flags, ...(profile === undefined ? {} : { profile }) })
      return opened(other, { ...options, half: asked, profile })
    },
  })
}

/** @throws {CliError} exit code 2 where no console could be drawn */
function checkTerminal({ io }: Context): void {
  const instead = 'svc status\nsvc payments list'
  if (!io.stdin.isTTY || !io.stdout.isTTY) throw usageError('the console needs a terminal, and there is none', instead)
  if (io.env['TERM'] === 'dumb') throw usageError('this terminal (TERM=dumb) can draw no console', instead)
}

/** What Ink and React ask the environment for, when they are loaded: no checks for developers, and colours as elsewhere. */
function drawsFor({ print }: Context): void {
  process.env['NODE_ENV'] ??= 'production'
  if (print.paint('red', '-') === '-') process.env['FORCE_COLOR'] = '0'
}

/** A client, with what the service says of it. @throws {CliError} where nobody is signed in, or nothing answers */
async function opened(
  client: Client,
  { half, profile, readonly }: { half: Side | undefined; profile: string | undefined; readonly: boolean },
): Promise<Session> {
  const [caller, live] = await Promise.all([viewerOf(client, half), isLive(client)])
  const who = !live && (await isOperatorToo(client, caller)) ? withSandbox(caller) : caller
  const name = profile ?? client.credentials.chosen?.name ?? ''
  return { client, profile: name, isBoth: isBoth(client), rights: { who, readonly, sandbox: !live } }
}

const REFUSED: ReadonlySet<number> = new Set([EXIT.signedOut, EXIT.forbidden, EXIT.notFound])

/** Whether a merchant's commands may also let time pass and steer the bank, as the operator of this sandbox. */
async function isOperatorToo(client: Client, { kind }: Who): Promise<boolean> {
  if (kind !== 'merchant') return false
  return call(client, listBankScenarios, {}).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CliError && REFUSED.has(error.options.exit)) return false
      throw error
    },
  )
}

function withSandbox(who: Who): Who {
  return { ...who, permissions: [...new Set([...who.permissions, 'operate sandbox'])] }
}
