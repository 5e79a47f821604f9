import type { useApp } from 'ink'
import type { Side, Who } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { editText } from '../base/editor.ts'
import type { Io } from '../base/io.ts'
import { WRAP } from './guard.ts'
import { runLogin, stopGroup } from './suspend.ts'

/** A client, with what the service says of it. */
export type Session = {
  client: Client
  who: Who
  sandbox: boolean
  profile: string
  /** Whether these credentials are of a merchant and of an operator: `:as merchant` and `:as operator` lead from one to the other. */
  isBoth?: boolean
}

/** As whom a session is opened: what is left out is as the command line said. */
export type Wanted = { profile?: string | undefined; half?: Side | undefined }

/** What the console needs of the terminal, once it is drawn there. */
export type Terminal = { suspend: ReturnType<typeof useApp>['suspendTerminal'] }

/** The terminal and the system, as far as the console asks for them. */
export type Host = {
  /** Where `svc up` keeps its data. */
  stateDir: string
  /** Runs something that has the terminal for itself. */
  suspend<T>(run: () => Promise<T>): Promise<T>
  /** Writes to the terminal beside the picture: for the clipboard. */
  write(text: string): void
  /** Lets the user write in an editor; undefined where nothing was written. */
  edit(initial: string): Promise<string | undefined>
  /** Lets the user sign in, in the suspended terminal; then the client is another. False where it was given up. */
  login(): Promise<boolean>
  /** Stops the process and those it was started by, until their shell goes on with them. False where there is no such shell. */
  stop(): Promise<boolean>
  /** Goes on as another profile. @throws {CliError} where there is none, or nobody is signed in to it */
  profile(name: string): Promise<void>
  /** Goes on as the merchant or as the operator, where the credentials are of both. @throws {CliError} where they are not */
  half(half: Side): Promise<void>
  /** The names of the profiles there are. */
  profiles(): readonly string[]
  /** Draws everything anew, whatever the terminal shows. */
  repaint(): void
  quit(): void
}

type HostOptions = {
  stateDir: string
  /** Whether it is drawn line by line, for a screen reader. */
  isSpoken: boolean
  terminal(): Terminal | undefined
  /** Told whether another program has the terminal: then ctrl-c is meant for that. */
  lend(isLent: boolean): void
  quit(): void
  session(): Session
  profiles(): readonly string[]
  repaint(): void
  /** Undefined: as before, for who has signed in since. */
  reopen(as: Wanted | undefined): Promise<void>
}

/** The terminal and the system, as the console asks for them. */
export function makeHost(
  io: Io,
  { stateDir, isSpoken, terminal, lend, quit, session, profiles, repaint, reopen }: HostOptions,
): Host & { onStop(): Promise<void> } {
  let isSuspended = false

  async function suspend<T>(run: () => Promise<T>): Promise<T> {
    const given = terminal()
    if (given === undefined) throw new Error('there is no picture to suspend')
    const outcome: { value?: T } = {}
    isSuspended = true
    lend(true)
    await given.suspend(async () => {
      if (!isSpoken) process.stdout.write(WRAP.on)
      try {
        outcome.value = await run()
      } finally {
        // Before the picture is drawn again, from the beginning of a line.
        if (!isSpoken) process.stdout.write(`\r${WRAP.off}`)
        isSuspended = false
        lend(false)
      }
    })
    // What has run without throwing has left its value.
    return outcome.value as T
  }

  /** Stops the process as a shell wants it, with the terminal given back, until it goes on in the foreground. */
  async function onStop(): Promise<void> {
    const halt = async (): Promise<void> => void process.kill(process.pid, 'SIGSTOP')
    // An editor has the terminal, and is stopped with us.
    await (isSuspended || terminal() === undefined ? halt() : suspend(halt))
  }

  return {
    stateDir,
    suspend,
    onStop,
    stop: async () => process.platform !== 'win32' && !isSuspended && suspend(stopGroup),
    quit,
    write: (text) => void process.stdout.write(text),
    edit: (initial) => suspend(() => editText(io, { initial, suffix: '.txt' })),
    async login() {
      if (!(await suspend(() => runLogin(io, loginWords(session()))))) return false
      await reopen(undefined)
      return true
    },
    profile: (name) => reopen({ profile: name }),
    half: (half) =>
      reopen({
        half,
        ...(session().client.credentials.chosen?.by === 'profile' ? { profile: session().profile } : {}),
      }),
    profiles,
    repaint,
  }
}

function loginWords({ who, profile, client }: Pick<Session, 'who' | 'profile' | 'client'>): string[] {
  if (client.credentials.chosen?.by === 'profile') return ['login', '--profile', profile]
  if (who.kind === 'platform') return ['login', '--platform', '--api-url', client.apiUrl]
  return ['login', '--realm', who.realm ?? '', '--api-url', client.apiUrl]
}
