import { render } from 'ink'
import { configDirOf } from '../client/auth/config-dir.ts'
import { DEV, readUserConfig } from '../client/auth/profiles.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { App } from './app.tsx'
import type { Session, Terminal, Wanted } from './host.ts'
import { makeConsole } from './console.ts'
import { follow } from './follow.ts'
import { makeHost } from './host.ts'
import { hinted, polled, ticked } from './model/cache.ts'
import { signedInAs } from './model/changes.ts'
import type { State } from './model/state.ts'
import { WRAP, guardTerminal } from './guard.ts'
import type { ScreenName } from './screen-names.ts'
import type { Screen } from './screen.ts'
import { SCREENS } from './screens.ts'

type StartOptions = {
  io: Io
  stateDir: string
  session: Session
  readonly: boolean
  screen: ScreenName | undefined
  /** How often is asked while the stream is down. */
  intervalMs: number
  /** The screens there are; those of the console where it says nothing. */
  screens?: readonly Screen[]
  /** A text with its commands as they have to be typed to do the same as this client, in any shell. */
  typed?(text: string, client: Client): string
  /** Opens anew: as another profile or the other half of this one, or as whoever has signed in since. */
  open(wanted: Wanted): Promise<Session>
}

// Without a reason for it, what is on the screen is read anew once in so many intervals: not all changes are told.
const IDLE_INTERVALS = 6
const TICK_MS = 1_000
const SPOKEN_TICK_MS = 60_000

/**
 * Opens the console, and returns when it is closed. The terminal is as it was before then, whatever has happened.
 * @throws {CliError} when something in it failed that nobody expected
 */
export async function startConsole(options: StartOptions): Promise<ExitCode> {
  const { io, readonly, screen, intervalMs } = options
  let { session } = options
  let terminal: Terminal | undefined
  let wanted: Wanted = {}
  const isSpoken = io.env['INK_SCREEN_READER'] === 'true'
  const guard = guardTerminal({ usesAlternateScreen: !isSpoken })
  const host = makeHost(io, {
    stateDir: options.stateDir,
    isSpoken,
    terminal: () => terminal,
    lend: guard.lend,
    quit: () => guard.end(EXIT.ok),
    session: () => session,
    profiles: () => [DEV, ...Object.keys(readUserConfig(configDirOf(io.env)).profiles)],
    repaint() {
      if (isSpoken) return
      ink.clear()
      process.stdout.write('\u001b[2J\u001b[H')
      // The picture is drawn anew, whatever it was before.
      process.stdout.emit('resize')
    },
    async reopen(as) {
      const next = await options.open(as ?? wanted)
      wanted = as ?? wanted
      await session.client.close()
      const isOther = identityOf(next) !== identityOf(session)
      session = next
      followed.restart()
      console.update(signedInAs(sessionOf(next, readonly), { isOther }))
    },
  })
  const console = makeConsole({
    screens: options.screens ?? SCREENS,
    first: screen,
    session: sessionOf(session, readonly),
    host,
    typed: (text) => options.typed?.(text, session.client) ?? text,
    now: Date.now,
  })
  const followed = follow({
    session: () => session,
    onHint: (hint) => console.update(hinted(hint, Date.now())),
    onLink: (state) => {
      console.update({ link: { state, since: Date.now() } })
      // Each connection begins with what happened while nobody told; one whose token ended was not even lost.
      if (state === 'live') console.update(polled(Date.now()))
    },
  })
  const timers = startTimers(console, { intervalMs, tickMs: isSpoken ? SPOKEN_TICK_MS : TICK_MS })
  if (!isSpoken) process.stdout.write(WRAP.off)
  const ink = render(<App console={console} onTerminal={(given) => void (terminal = given)} />, {
    alternateScreen: !isSpoken,
    incrementalRendering: true,
    exitOnCtrlC: false,
    interactive: true,
    isScreenReaderEnabled: isSpoken,
  })
  const onStop = (): void => void host.onStop().catch(guard.fail)
  process.on('SIGTSTP', onStop)
  // A component that throws ends the picture: then there is nothing more to do.
  ink.waitUntilExit().then(
    () => guard.end(EXIT.ok),
    (error: unknown) => guard.fail(error),
  )
  const { exit, error } = await guard.ended
  process.off('SIGTSTP', onStop)
  for (const timer of timers) clearInterval(timer)
  followed.stop()
  const left = console.stop()
  guard.restore(() => ink.unmount())
  if (left !== undefined) io.stderr.write(`${printable(left, 'lines')}\n`)
  await session.client.close()
  if (error !== undefined) throw crashOf(error)
  // What was begun is not known to be done.
  return left !== undefined && exit === EXIT.ok ? EXIT.interrupted : exit
}

function sessionOf({ client, who, sandbox, profile, isBoth = false }: Session, readonly: boolean): State['session'] {
  return { client, profile, isBoth, rights: { who, readonly, sandbox } }
}

function identityOf({ client, who, profile, sandbox }: Session): string {
  return JSON.stringify([client.apiUrl, profile, sandbox, who.kind, who.realm, who.subject])
}

function startTimers(
  console: ReturnType<typeof makeConsole>,
  { intervalMs, tickMs }: { intervalMs: number; tickMs: number },
): NodeJS.Timeout[] {
  let turn = 0
  const poll = setInterval(() => {
    turn += 1
    if (console.state().link.state !== 'live' || turn % IDLE_INTERVALS === 0) console.update(polled(Date.now()))
  }, intervalMs)
  const tick = setInterval(() => console.update(ticked(Date.now())), tickMs)
  return [poll, tick]
}

function crashOf(error: unknown): CliError {
  if (error instanceof CliError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new CliError('CONSOLE_FAILED', `the console failed: ${message}`, {
    exit: EXIT.failure,
    hint: 'svc ui once more; with SVC_DEBUG=1 in the environment it says where it failed',
    cause: error,
  })
}
