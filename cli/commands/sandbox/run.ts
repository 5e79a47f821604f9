import { z } from 'zod'
import { headerCredentials, serviceCredentials } from '../../auth/credentials.ts'
import { makeClient } from '../../client.ts'
import { durationOf, platformUser } from '../../context.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'
import { EXIT, exitOfSignal } from '../../exit-codes.ts'
import { withEphemeralService } from '../../scenario/ephemeral.ts'
import { loadScenarios, onlyCases, readVars } from '../../scenario/load.ts'
import { quoted } from '../../scenario/masked.ts'
import { playAll } from '../../scenario/play-all.ts'
import type { PlayAllOptions } from '../../scenario/play-all.ts'
import type { Case } from '../../scenario/read-scenarios.ts'
import { openReporters } from '../../scenario/reporters/open.ts'
import { reported } from '../../scenario/reporters/reported.ts'
import type { Summary } from '../../scenario/reporters/reporter.ts'
import { IDENTITY_KINDS, identityOf } from '../../up/plan.ts'
import { onStopSignals } from '../../up/signals.ts'
import { mistakesError } from './scenarios.ts'

export const RunOptions = z.object({
  var: z.array(z.string()).default([]),
  only: z.string().optional(),
  bail: z.boolean().default(false),
  parallel: z
    .string()
    .regex(/^([1-9]|[12]\d|3[0-2])$/, 'must be 1 to 32')
    .transform(Number),
  reporter: z.array(z.string()).default([]),
  timeout: z.string(),
  ephemeral: z.boolean().default(false),
  idp: z.enum(IDENTITY_KINDS).optional(),
  authUrl: z.string().optional(),
})
export type RunOptions = z.infer<typeof RunOptions>

/** How long a request to the service of this run may take. */
const REQUEST_TIMEOUT_MS = 15_000

/** `svc sandbox run`: reads everything first, so that nothing is played of files with mistakes. */
export async function run(context: Context, { args, options }: CommandInput<RunOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  if (timeoutMs === 0) throw usageError('--timeout: must be more than nothing')
  if (options.idp !== undefined && !options.ephemeral)
    throw usageError('--idp says what a service of --ephemeral has; another has its own', '--ephemeral --idp none')
  if (options.authUrl !== undefined && !options.ephemeral)
    throw usageError('--auth-url is of a service of --ephemeral; another has its own', '--ephemeral --idp keycloak')
  // The service of a run is embedded unless the flag says otherwise, whatever the environment says of another.
  const identity = identityOf({ ...options, idp: options.idp ?? 'embedded' }, context.io.env)
  const vars = readVars(options.var)
  const { cases, mistakes } = loadScenarios(args, { cwd: context.io.cwd, vars })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  const chosen = onlyCases(cases, options.only)
  const reporter = openReporters(wishedReporters(context, options), { io: context.io, paint: context.print.paint })
  const abort = new AbortController()
  const release = onStopSignals((signal) => {
    context.io.stderr.write('stopping…\n')
    abort.abort(signal)
  })
  try {
    const play = {
      bail: options.bail,
      parallel: options.parallel,
      timeoutMs,
      rerun: rerunOf(options, context.io.calledAs),
      signal: abort.signal,
    }
    const summary = await reported(reporter, { cases: chosen, signal: abort.signal }, (during) =>
      playSomewhere(context, chosen, { ...play, reporter: during, ephemeral: options.ephemeral, ...identity }),
    )
    if (abort.signal.aborted) return exitOfSignal(abort.signal.reason)
    return summary.failed > 0 ? EXIT.assertion : EXIT.ok
  } finally {
    release()
  }
}

/** Reports in files are beside what the user reads, and not in place of it. */
function wishedReporters(context: Context, { reporter }: RunOptions): readonly string[] {
  const isToldHere = reporter.some((word) => !word.includes('='))
  return isToldHere ? reporter : [context.json ? 'json' : 'pretty', ...reporter]
}

async function playSomewhere(
  context: Context,
  cases: readonly Case[],
  options: PlayAllOptions & Pick<RunOptions, 'ephemeral'> & ReturnType<typeof identityOf>,
): Promise<Summary> {
  if (!options.ephemeral) return playAll(context.client(), cases, options)
  const user = platformUser(context.io, undefined)
  const { env } = context.io
  const { identity = 'embedded', authUrl, signal } = options
  const service = { env, identity, authUrl, note: () => undefined, signal }
  return withEphemeralService(service, async ({ api_url: apiUrl, auth_url: issuers, operator }) => {
    const credentials =
      issuers === null || operator === null
        ? headerCredentials({ clientId: undefined, platformUser: user })
        : serviceCredentials({
            authUrl: issuers,
            platform: {
              realm: operator.realm,
              clientId: operator.client_id,
              clientSecret: operator.client_secret,
            },
          })
    const client = makeClient({ apiUrl, credentials, timeoutMs: REQUEST_TIMEOUT_MS })
    try {
      return await playAll(client, cases, options)
    } finally {
      await client.close()
    }
  })
}

/** The command that plays one case again. A built-in's label is its name, which is what the command takes. */
function rerunOf(options: RunOptions, called: string): (scenario: Case) => string {
  const flags = [
    ...options.var.flatMap((word) => ['--var', quoted(word)]),
    ...(options.ephemeral ? ['--ephemeral'] : []),
    ...(options.idp === undefined ? [] : ['--idp', options.idp]),
    ...(options.authUrl === undefined ? [] : ['--auth-url', quoted(options.authUrl)]),
  ]
  return ({ file, number }) => [called, 'sandbox', 'run', quoted(file), '--only', String(number), ...flags].join(' ')
}
