import { asTyped } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import type { CliError } from '../../base/errors.ts'
import { EXIT, exitOfSignal } from '../../base/exit-codes.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { durationOf } from '../../kit/context.ts'
import { shuffledCases, taggedCases } from '../play/choose.ts'
import { findCommands } from '../read/find-commands.ts'
import { loadScenarios, onlyCases, readVars } from '../read/load.ts'
import type { Loaded } from '../read/load.ts'
import { playAll } from '../play/play-all.ts'
import type { PlayAllOptions } from '../play/play-all.ts'
import type { Case } from '../read/read-case.ts'
import { CASES_MAX, TOO_MANY } from '../read/read-scenarios.ts'
import { openReporters, reportFilesOf } from '../reporters/open.ts'
import { reported } from '../reporters/reported.ts'
import type { Summary } from '../reporters/reporter.ts'
import { watchFiles } from '../read/watch.ts'
import type { Changes } from '../read/watch.ts'
import { printable } from '../../base/text.ts'
import { identityOf } from '../../service/up/plan.ts'
import { onStopSignals } from '../../base/signals.ts'
import { rerunOf } from './run-again.ts'
import type { RunOptions } from './run-options.ts'
import { withService } from './run-service.ts'
import type { ServiceOptions } from './run-service.ts'
import { mistakesError, noteSkipped } from './scenarios.ts'

type Play = Omit<PlayAllOptions, 'reporter' | 'rerun'>
type Read = { cases: Case[]; loaded: Loaded }
/** The files were read, and can't be played. */
type Unread = { error: CliError; loaded: Loaded }

/** `svc run`: reads everything first, so that nothing is played of files with mistakes. */
export async function run(context: Context, { args, options }: CommandInput<RunOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  if (timeoutMs === 0) throw usageError('--timeout: must be more than nothing')
  refuseContradictions(options)
  // The service of a run is embedded unless the flag says otherwise, whatever the environment says of another.
  const identity = identityOf({ ...options, idp: options.idp ?? 'embedded' }, context.io.env)
  const read = readCases(context, args, options)
  if ('error' in read) throw read.error
  const abort = new AbortController()
  const release = onStopSignals((signal) => {
    context.io.stderr.write('stopping…\n')
    abort.abort(signal)
  })
  const { io } = context
  const play: Play = {
    bail: options.bail,
    parallel: options.parallel,
    timeoutMs,
    seed: options.seed,
    signal: abort.signal,
    tellWaiting: io.stderr.isTTY ? (step) => void io.stderr.write(`… ${printable(step.title)}\n`) : undefined,
    exec: options.allowExec ? { env: io.env, cwd: io.cwd } : undefined,
  }
  const service = {
    ...identity,
    ephemeral: options.ephemeral,
    keep: options.keep,
    seed: options.seed,
    signal: abort.signal,
  }
  try {
    if (options.watch) return await watched(context, { args, options, read, play, service })
    const summary = await playRound(context, { options, ...read, signal: abort.signal }, (report) =>
      withService(context, service, (client) => playAll(client, read.cases, { ...play, ...report })),
    )
    if (abort.signal.aborted) return exitOfSignal(abort.signal.reason)
    // A run that showed nothing must not stay green.
    return summary.passed === 0 || summary.failed > 0 ? EXIT.assertion : EXIT.ok
  } catch (error) {
    // Whatever could not be started any more, the user knows why.
    if (abort.signal.aborted) return exitOfSignal(abort.signal.reason)
    throw error
  } finally {
    release()
  }
}

function refuseContradictions(options: RunOptions): void {
  if (options.idp !== undefined && !options.ephemeral)
    throw usageError('--idp says what a service of --ephemeral has; another has its own', '--ephemeral --idp none')
  if (options.authUrl !== undefined && !options.ephemeral)
    throw usageError('--auth-url is of a service of --ephemeral; another has its own', '--ephemeral --idp keycloak')
  if (options.watch && options.repeat > 1)
    throw usageError('--repeat and --watch: a watched run is repeated by each change', '--repeat without --watch')
}

/** The cases to play, in the order in which they begin, or what is wrong with the files. */
function readCases(context: Context, words: readonly string[], options: RunOptions): Read | Unread {
  const { cwd } = context.io
  const reports = reportFilesOf(options.reporter, cwd)
  const loaded = loadScenarios(words, { cwd, vars: readVars(options.var), seed: options.seed, reports })
  noteSkipped(context, loaded)
  if (loaded.mistakes.length > 0) return { error: mistakesError(context, loaded.mistakes), loaded }
  const chosen = onlyCases(taggedCases(loaded.cases, options.tag), options.only)
  const forbidden = options.allowExec ? [] : findCommands(chosen)
  if (forbidden.length > 0) return { error: mistakesError(context, forbidden), loaded }
  if (chosen.length * options.repeat > CASES_MAX)
    throw usageError(`--repeat: ${TOO_MANY}`, `--repeat ${Math.floor(CASES_MAX / chosen.length)}`)
  const rounds = Array.from({ length: options.repeat }, (_, round) => chosen.map((each) => again(each, round)))
  return { cases: shuffledCases(rounds.flat(), options.seed), loaded }
}

/** A case that is played more than once has a key for each time: what it makes is made anew. */
function again(scenario: Case, round: number): Case {
  return round === 0 ? scenario : { ...scenario, key: `${scenario.key}/${round + 1}` }
}

type Round = Read & { options: RunOptions; signal: AbortSignal }

function playRound(
  context: Context,
  { options, cases, loaded, signal }: Round,
  play: (report: Pick<PlayAllOptions, 'reporter' | 'rerun'>) => Promise<Summary>,
): Promise<Summary> {
  const { io, print } = context
  const drawnFrom = options.seed ?? loaded.seed
  const rerun = rerunOf({ ...options, drawnFrom })
  // A service of this run alone is reached by no flag.
  const given = options.ephemeral ? {} : context.flags
  const reporter = openReporters(wishedReporters(context, options), {
    io,
    paint: print.paint,
    keep: options.keep,
    seed: options.seed !== undefined || cases.some(({ isDrawn }) => isDrawn) ? drawnFrom : undefined,
    given,
  })
  return reported(reporter, { cases, signal }, (during) => play({ reporter: during, rerun }))
}

/** Reports in files are beside what the user reads, and not in place of it. */
function wishedReporters(context: Context, { reporter }: RunOptions): readonly string[] {
  const isToldHere = reporter.some((word) => !word.includes('='))
  return isToldHere ? reporter : [context.json ? 'json' : 'pretty', ...reporter]
}

type Watched = { args: readonly string[]; options: RunOptions; read: Read; play: Play; service: ServiceOptions }

/** Plays again at each change, on the same service, until a signal ends it. */
async function watched(context: Context, { args, options, read, play, service }: Watched): Promise<CommandResult> {
  const { signal } = play
  const { stderr } = context.io
  let next: Read | undefined = read
  const { cwd } = context.io
  const reports = reportFilesOf(options.reporter, cwd)
  const changes = watchFiles(args, { cwd, paths: read.loaded.paths, reports })
  await withService(context, service, async (client) => {
    for (let round = 1; !signal.aborted; round += 1) {
      if (next !== undefined) {
        const cases = next.cases.map((each) => again(each, round - 1))
        await playRound(context, { ...next, options, cases, signal }, (report) =>
          playAll(client, cases, { ...play, ...report }),
        )
      }
      if (!signal.aborted) stderr.write('\nwatching for changes; Ctrl+C ends\n')
      await changes.next(signal)
      if (!signal.aborted) next = readAgain(context, { args, options, changes })
    }
  })
  return exitOfSignal(signal.reason)
}

type Again = Pick<Watched, 'args' | 'options'> & { changes: Changes }

/** What is wrong with a file in the middle of being written is told, and waited out. */
function readAgain(context: Context, { args, options, changes }: Again): Read | undefined {
  const { stderr, calledAs } = context.io
  const tell = (error: unknown): undefined => {
    stderr.write(`\n${asTyped(error instanceof Error ? error.message : String(error), calledAs)}\n`)
  }
  try {
    const read = readCases(context, args, options)
    changes.also(read.loaded.paths)
    return 'error' in read ? tell(read.error) : read
  } catch (error) {
    return tell(error)
  }
}
