import { render } from 'ink'
import type { Side } from '../client/auth/acting-side.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { DEV, readUserConfig } from '../client/auth/profiles.ts'
import type { Client } from '../client/call.ts'
import { editText } from '../base/editor.ts'
import { CliError, messageOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { App } from './app.tsx'
import { makeConsole } from './console.ts'
import type { Console } from './console.ts'
import type { Host } from './host.ts'
import { hinted, polled, ticked } from './model/cache.ts'
import { signedInAs } from './model/changes.ts'
import type { Session, Link } from './model/state.ts'
import type { ScreenName } from './screen-names.ts'
import type { Screen, Hint } from './screen.ts'
import { SCREENS } from './screens.ts'
import { guardTerminal, runLogin } from './terminal.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { followStream } from '../client/event-stream.ts'

/** As whom a session is opened: what is left out is as the command line said. */
type SessionChoice = { profile?: string; half?: Side }

type StartOptions = {
  io: Io
  stateDir: string
  session: Session
  screen: ScreenName | undefined
  intervalMs: number
  /** The screens there are; those of the console where it says nothing. */
  screens?: readonly Screen[]
  /** A text with its commands as they have to be typed to do the same as this client, in any shell. */
  typed?(text: string, client: Client): string
  /** Opens a session again: as another profile or side, or after a new sign-in. */
  open(wanted: SessionChoice): Promise<Session>
}

// Without a reason for it, the screen is read again once in so many intervals: not all changes are announced.
const IDLE_INTERVALS = 6
const TICK_MS = 1_000
const SPOKEN_TICK_MS = 60_000

/**
 * Opens the console, and returns when it is closed. The terminal is as it was before then, whatever has happened.
 * @throws {CliError} when something in it failed unexpectedly
 */
export async function startConsole(options: StartOptions): Promise<ExitCode> {
  const { io, intervalMs, typed } = options
  const isSpoken = io.env['INK_SCREEN_READER'] === 'true'
  const guard = guardTerminal({ isSpoken })
  const console: Console = makeConsole({
    screens: options.screens ?? SCREENS,
    first: options.screen,
    session: options.session,
    host: hostOf(options, guard, {
      console: () => console,
      repaint() {
        if (isSpoken) return
        ink.clear()
        process.stdout.write('\u001b[2J\u001b[H')
        // The picture is drawn again, whatever it was before.
        process.stdout.emit('resize')
      },
      restart: () => followed.restart(),
    }),
    typed: (text) => typed?.(text, console.state().session.client) ?? text,
    now: Date.now,
  })
  const followed = follow({
    session: () => console.state().session,
    onHint: (hint) => console.update(hinted(hint, Date.now())),
    onLink: (state) => {
      console.update({ link: { state, since: Date.now() } })
      // Each connection begins with what happened while there was none; one whose token ended was not even lost.
      if (state === 'live') console.update(polled(Date.now()))
    },
  })
  const timers = startTimers(console, { intervalMs, tickMs: isSpoken ? SPOKEN_TICK_MS : TICK_MS })
  const ink = render(<App console={console} onTerminal={guard.attach} />, {
    alternateScreen: !isSpoken,
    incrementalRendering: true,
    exitOnCtrlC: false,
    interactive: true,
    isScreenReaderEnabled: isSpoken,
  })
  // A component that throws ends the picture: then there is nothing more to do.
  ink.waitUntilExit().then(
    () => guard.end(EXIT.ok),
    (error: unknown) => guard.fail(error),
  )
  const { exit, error } = await guard.ended
  for (const timer of timers) clearInterval(timer)
  followed.stop()
  const left = console.stop()
  guard.restore(() => ink.unmount())
  if (left !== undefined) io.stderr.write(`${printable(left, 'lines')}\n`)
  await console.state().session.client.close()
  if (error !== undefined) throw crashOf(error)
  // What was begun is not known to be done.
  return left !== undefined && exit === EXIT.ok ? EXIT.interrupted : exit
}

type Running = { console(): Console; repaint(): void; restart(): void }

function hostOf(
  { io, stateDir, open }: Pick<StartOptions, 'io' | 'stateDir' | 'open'>,
  guard: ReturnType<typeof guardTerminal>,
  { console, repaint, restart }: Running,
): Host {
  let wanted: SessionChoice = {}
  const session = (): Session => console().state().session

  async function reopen(as: SessionChoice): Promise<void> {
    const next = await open(as)
    wanted = as
    const before = session()
    await before.client.close()
    console().update(signedInAs(next, { isOther: identityOf(next) !== identityOf(before) }))
    restart()
  }

  return {
    stateDir,
    quit: () => guard.end(EXIT.ok),
    write: (text) => void process.stdout.write(text),
    edit: (initial) => guard.suspend(() => editText(io, { initial, suffix: '.txt' })),
    async login({ secondFactor }) {
      const words = [...loginWords(session()), ...(secondFactor ? ['--second-factor'] : [])]
      if (!(await guard.suspend(() => runLogin(io, words)))) return false
      await reopen(wanted)
      return true
    },
    profile: (name) => reopen({ profile: name }),
    half: (half) => {
      const { client, profile } = session()
      return reopen({ half, ...(client.credentials.chosen?.by === 'profile' ? { profile } : {}) })
    },
    profiles: () => [DEV, ...Object.keys(readUserConfig(configDirOf(io.env)).profiles)],
    repaint,
  }
}

function loginWords({ rights: { who }, profile, client }: Session): string[] {
  if (client.credentials.chosen?.by === 'profile') return ['login', '--profile', profile]
  const whose = who.kind === 'platform' ? ['--platform'] : ['--realm', who.realm ?? '']
  return ['login', ...whose, '--api-url', client.apiUrl]
}

function identityOf({ client, profile, rights: { who, sandbox } }: Session): string {
  return JSON.stringify([client.apiUrl, profile, sandbox, who.kind, who.realm, who.subject])
}

function startTimers(
  console: Console,
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
  const message = messageOf(error)
  return new CliError('CONSOLE_FAILED', `the console failed: ${message}`, {
    hint: 'svc ui once more; with SVC_DEBUG=1 in the environment it says where it failed',
    cause: error,
  })
}

export type FollowOptions = {
  session(): Pick<Session, 'client' | 'rights'>
  onHint(hint: Hint): void
  onLink(state: Link['state']): void
}

/** How long after a rejection it is tried again: the user may have signed in by then. */
const AGAIN_MS = 5_000

export function follow({ session, onHint, onLink }: FollowOptions): { restart(): void; stop(): void } {
  let abort = new AbortController()
  let isStopped = false

  async function run({ signal }: AbortController): Promise<void> {
    onLink('connecting')
    while (!signal.aborted) {
      const { client, rights } = session()
      try {
        await followStream(client, {
          access: [rights.who.kind === 'platform' ? 'platform' : 'merchant'],
          isPatient: true,
          signal,
          onOpen: () => onLink('live'),
          onLost: () => onLink('lost'),
          onFrame(frame) {
            if (frame.event === 'event') onHint({ event: frame.data })
            else if (frame.event === 'changed') onHint({ of: frame.data.of })
          },
        })
      } catch {
        // Reading shows the user what is wrong; this only continues without news until it is fixed.
        if (!signal.aborted) onLink('lost')
      }
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  void run(abort)
  return {
    restart() {
      if (isStopped) return
      abort.abort()
      abort = new AbortController()
      void run(abort)
    },
    stop() {
      isStopped = true
      abort.abort()
    },
  }
}
