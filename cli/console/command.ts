import { listBankScenarios } from '../../src/wire/sandbox-faults.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isBoth, sideOf, viewerOf } from '../client/auth/acting-side.ts'
import type { Side, Who } from '../client/auth/acting-side.ts'
import { isLive } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { typedText } from '../client/command-texts.ts'
import { command } from '../kit/command.ts'
import { durationOf, openClient } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import type { Session } from './model/state.ts'
import { SCREEN_NAMES } from './screen-names.ts'

const OF_OPERATORS: ReadonlySet<string> = new Set(['kyb', 'merchants', 'audit', 'banks'])

const INTERVAL_LEAST_MS = 1_000

export const ui = command({
  command: 'ui',
  summary: 'Open the console',
  examples: ['svc ui', 'svc ui --merchant', 'svc ui --platform --screen kyb', 'svc ui --readonly --profile live'],
  flags: {
    readonly: { summary: 'Show everything, and change nothing' },
    platform: { summary: 'Use the operator identity (default when signed in as both)', excludes: ['merchant'] },
    merchant: { summary: 'Use the merchant identity when signed in as both' },
    screen: { value: 'screen', summary: 'First screen', choices: SCREEN_NAMES },
    interval: { value: 'time', summary: 'Polling interval while the event stream is down', initial: '5s' },
  },
  async run(context, input) {
    checkTerminal(context)
    const { flags } = context
    const intervalMs = durationOf(input.interval, '--interval')
    if (intervalMs < INTERVAL_LEAST_MS) throw usageError('--interval: at least 1s', '--interval 5s')
    const ofScreen = OF_OPERATORS.has(input.screen ?? '') ? 'platform' : undefined
    const half = sideOf(input) ?? ofScreen
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
      Promise.all([import('./start.tsx'), opened(client, { ...input, half, profile: flags.profile })]),
    )
    return startConsole({
      io: context.io,
      stateDir: context.stateDir,
      session,
      screen: input.screen,
      intervalMs,
      typed: (text, client) => typedText(text, { io: context.io, flags, client }),
      open: (wanted) => {
        const profile = wanted.profile ?? flags.profile
        const asked = wanted.half ?? (wanted.profile === undefined ? half : undefined)
        const other = openClient(context.io, { ...flags, ...(profile === undefined ? {} : { profile }) })
        return opened(other, { ...input, half: asked, profile })
      },
    })
  },
})

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

/** A client, with what the service says of it. @throws {CliError} without a sign-in, or where nothing answers */
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
