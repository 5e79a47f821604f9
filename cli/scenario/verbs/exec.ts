import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { parsedJson } from '../../base/json.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Matcher, Name, Text, Wait } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { merchantOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { runCommand } from '../play/run-command.ts'
import type { CommandEnd } from '../play/run-command.ts'
import { verb } from './verb.ts'

const Exec = z.strictObject({
  as: Name.optional(),
  /** Words, or one line for the shell. */
  run: z
    .union([z.array(Text).min(1), z.string().min(1)])
    .meta({ examples: [['node', 'test/settled.mjs', '$p1.payment_id'], 'npm test'] }),
  /** Beside SVC_API_URL and the merchant's own SVC_CLIENT_ID, SVC_CLIENT_SECRET, SVC_REALM and SVC_WEBHOOK_SECRET. */
  env: z.record(Text, Text).optional(),
  within: Wait.optional(),
  expect: z
    .strictObject({
      /** 0 where nothing is said. */
      exit: z.int().min(0).max(255).optional(),
      stdout: Matcher.optional(),
      stderr: Matcher.optional(),
      /** What stands in standard output, as JSON. */
      json: Matcher.optional(),
    })
    .optional(),
})

const WITHIN = '1m'

export const exec = verb({
  schema: Exec,
  text: 'Runs a command with `SVC_API_URL`, `SVC_CLIENT_ID`, `SVC_CLIENT_SECRET`, `SVC_REALM` and `SVC_WEBHOOK_SECRET` in its environment; only with `--allow-exec`.',
  examples: [
    'exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0 } }',
    'exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0, json: { ok: true } } }',
  ],
  makes: { kind: 'answer', members: ['exit', 'stdout', 'stderr', 'json'] },
  async play(run, input) {
    const { exec: place } = run
    if (place === undefined)
      throw new StepFailure('this step runs a command on this machine, which is not allowed', {
        hint: 'for scenarios that you trust: svc run --allow-exec',
      })
    const { within = WITHIN } = input
    const ended = await runCommand({
      run: input.run,
      env: environmentOf(run, { ...place.env }, input.env ?? {}),
      cwd: place.cwd,
      withinMs: parseDuration(within),
      signal: run.signal,
    })
    // It is no request of this program that a failure would be about.
    run.lastExchange = undefined
    const { exit, why, stdout, stderr } = withoutSecrets(run, ended)
    const command = inOneLine(typeof input.run === 'string' ? input.run : input.run.join(' '))
    if (exit === undefined)
      throw new StepFailure(`${command} did not end by itself: ${why ?? ''}${lastLines({ stdout, stderr })}`, {
        at: ['run'],
        hint: `it may take ${within}; a command that takes longer needs a longer within`,
      })
    const answer = { exit, stdout, stderr, json: parsedJson(stdout) }
    if (input.as !== undefined) run.captures.set(input.as, answer)
    holdEnd(command, input.expect ?? {}, answer)
  },
})

const COMMAND_SHOWN_MAX = 60

function inOneLine(command: string): string {
  const line = command.replaceAll(/\s+/g, ' ').trim()
  return line.length > COMMAND_SHOWN_MAX ? `${line.slice(0, COMMAND_SHOWN_MAX)}…` : line
}

type Answer = { exit: number; stdout: string; stderr: string; json: unknown }

function holdEnd(command: string, expected: NonNullable<z.output<typeof Exec>['expect']>, answer: Answer): void {
  const { exit = 0, ...others } = expected
  if (answer.exit === exit)
    return refuseDifferences('what the command printed', differencesOf(others, answer), ['expect'])
  throw new StepFailure(`${command} ended with exit code ${answer.exit}${lastLines(answer)}`, {
    differences: differencesOf({ exit, ...others }, answer),
    at: expected.exit === undefined ? ['run'] : ['expect', 'exit'],
  })
}

const LINES_MAX = 3

function lastLines({ stdout, stderr }: { stdout: string; stderr: string }): string {
  const lines = (stderr === '' ? stdout : stderr).split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? '' : `: ${lines.slice(-LINES_MAX).join(' | ')}`
}

/** The environment of this process, but for what names another service or identity. */
function environmentOf(run: CaseRun, env: NodeJS.ProcessEnv, own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('SVC_'))
  return { ...Object.fromEntries(kept), ...merchantEnvironment(run), ...own }
}

export function merchantEnvironment({
  merchant,
  client,
}: Pick<CaseRun, 'merchant' | 'client'>): Record<string, string> {
  return {
    SVC_API_URL: client.apiUrl,
    SVC_CLIENT_ID: merchant.client_id,
    ...(merchant.clientSecret === undefined
      ? {}
      : { SVC_CLIENT_SECRET: merchant.clientSecret, SVC_REALM: merchant.realm }),
    SVC_MERCHANT_ID: merchant.merchant_id,
    SVC_WEBHOOK_SECRET: merchant.secret,
  }
}

/** An access token, which the command may have asked for with what it was trusted with. */
const TOKEN = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g

/** What the command was trusted with stands in no report, and in nothing that later steps send. */
function withoutSecrets(run: CaseRun, ended: CommandEnd): CommandEnd {
  const merchants = [merchantOf(run), ...run.made.filter((each) => each.kind === 'merchant')]
  const secrets = merchants.flatMap(({ merchant: { secret, previousSecret, clientSecret } }) =>
    [secret, previousSecret, clientSecret].filter((each) => each !== undefined && each !== ''),
  )
  const clean = (text: string): string =>
    secrets
      .reduce((rest: string, secret) => rest.replaceAll(secret ?? '', '***'), text)
      .replaceAll(TOKEN, '***')
      .trimEnd()
  return { ...ended, stdout: clean(ended.stdout), stderr: clean(ended.stderr) }
}
