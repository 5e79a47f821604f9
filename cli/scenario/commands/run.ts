import { usageError } from '../../base/errors.ts'
import { EXIT, exitOfSignal } from '../../base/exit-codes.ts'
import { onStopSignals } from '../../base/signals.ts'
import { printable } from '../../base/text.ts'
import { command } from '../../kit/command.ts'
import { durationOf } from '../../kit/context.ts'
import type { Context } from '../../kit/context.ts'
import { identityOf } from '../../service/up/plan.ts'
import { playAll } from '../play/play-all.ts'
import { shuffledCases, taggedCases, loadScenarios, onlyCases, readVars } from '../read/load.ts'
import type { Case } from '../read/read-case.ts'
import { makeMistake } from '../read/source.ts'
import type { Mistake } from '../read/source.ts'
import { openReporters, reportFilesOf } from '../reporters/open.ts'
import { reported } from '../reporters/reported.ts'
import type { Reporter } from '../reporters/reporter.ts'
import { FILES, RUN_FLAGS, rerunOf } from './run-options.ts'
import type { RunOptions } from './run-options.ts'
import { withService } from './run-service.ts'
import { mistakesError } from './scenarios.ts'

/** `svc run`: reads everything first, so that nothing is played of files with mistakes. */
export const run = command({
  command: 'run',
  summary: 'Run scenarios',
  details: `Exit code 3 if a case fails. Each case creates its own merchant and webhook
receiver, so cases never interfere, even on a shared service. The merchant is
created by the operator of svc up, or by the operator who is signed in. With
--ephemeral and --seed the order, ids and retries are the same each time.`,
  examples: [
    'svc run happy-path                         a built-in scenario',
    'svc run test/scenarios --ephemeral         on a service of its own',
    'svc run shop.yaml --only 2 --var amount=12.50',
    'svc run test/scenarios --reporter tap --reporter junit=out.xml',
    'svc run test/scenarios --ephemeral --parallel 4 --seed 7',
  ],
  flags: { ...FILES, ...RUN_FLAGS },
  async run(context, input) {
    const timeoutMs = durationOf(input.timeout, '--timeout')
    if (timeoutMs === 0) throw usageError('--timeout: must be greater than 0')
    refuseContradictions(input)
    // The service of a run is embedded unless the flag says otherwise, whatever the environment says of another.
    const identity = identityOf({ ...input, idp: input.idp ?? 'embedded' }, context.io.env)
    const cases = readCases(context, input.scenarios, input)
    const abort = new AbortController()
    const release = onStopSignals((signal) => {
      context.io.stderr.write('stopping…\n')
      abort.abort(signal)
    })
    const { io } = context
    const play = {
      bail: input.bail,
      parallel: Number.parseInt(input.parallel, 10),
      timeoutMs,
      seed: input.seed,
      signal: abort.signal,
      reportWaiting: io.stderr.isTTY
        ? ({ title }: { title: string }) => void io.stderr.write(`… ${printable(title)}\n`)
        : undefined,
      rerun: rerunOf(input),
      exec: input.allowExec ? { env: io.env, cwd: io.cwd } : undefined,
    }
    const service = {
      ...identity,
      ephemeral: input.ephemeral,
      keep: input.keep,
      seed: input.seed,
      signal: abort.signal,
    }
    try {
      const reporter = reporterOf(context, input)
      const summary = await reported(reporter, { cases, signal: abort.signal }, (report) =>
        withService(context, service, (client) => playAll(client, cases, { ...play, report })),
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
  },
})

function refuseContradictions(options: RunOptions): void {
  if (options.idp !== undefined && !options.ephemeral)
    throw usageError('--idp says what a service of --ephemeral has; another has its own', '--ephemeral --idp none')
  if (options.authUrl !== undefined && !options.ephemeral)
    throw usageError('--auth-url is of a service of --ephemeral; another has its own', '--ephemeral --idp keycloak')
}

/**
 * The cases to play, in the order in which they begin.
 * @throws {CliError} with exit code 2 and all that is wrong with the files
 */
function readCases(context: Context, words: readonly string[], options: RunOptions): Case[] {
  const { cwd } = context.io
  const reports = reportFilesOf(options.reporter, cwd)
  const loaded = loadScenarios(words, { cwd, vars: readVars(options.var), reports })
  if (loaded.mistakes.length > 0) throw mistakesError(context, loaded.mistakes)
  const chosen = onlyCases(taggedCases(loaded.cases, options.tag), options.only)
  const forbidden = options.allowExec ? [] : findCommands(chosen)
  if (forbidden.length > 0) throw mistakesError(context, forbidden)
  return shuffledCases(chosen, options.seed)
}

function reporterOf(context: Context, options: RunOptions): Reporter {
  const { io, print } = context
  return openReporters(wishedReporters(context, options), {
    io,
    paint: print.paint,
    keep: options.keep,
    seed: options.seed,
    // A service of this run alone is reached by no flag.
    given: options.ephemeral ? {} : context.flags,
  })
}

/** Reports in files are beside what the user reads, and not in place of it. */
function wishedReporters(context: Context, { reporter }: RunOptions): readonly string[] {
  const isShownHere = reporter.some((word) => !word.includes('='))
  return isShownHere ? reporter : [context.json ? 'json' : 'pretty', ...reporter]
}

/** The steps that would run a command on this machine, as mistakes where they are not allowed. */
function findCommands(cases: readonly Pick<Case, 'steps'>[]): Mistake[] {
  return cases
    .flatMap(({ steps }) => steps)
    .filter(({ verb }) => verb === 'exec')
    .map(({ source, placeOf }) =>
      makeMistake(source, placeOf(['exec']), {
        message: 'this step runs a command on this machine, which is not allowed',
        hint: '--allow-exec, for files that you trust as you would trust a script',
      }),
    )
}
