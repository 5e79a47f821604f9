import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { asTyped } from '../called-as.ts'
import { EXIT } from '../exit-codes.ts'
import { runningState } from '../find-service.ts'
import { checkIdentity } from './doctor/identity.ts'
import type { Check } from './doctor/check.ts'
import { fromEnvironment, fromService } from './doctor/subject.ts'

export function addDoctor(program: Command, runtime: Runtime): void {
  program
    .command('doctor')
    .description('look over the identity provider; exit code 1 with findings, each with what to type')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, z.object({}), doctor))
}

const EXAMPLES = `
Looks at the service that --api-url or SVC_API_URL names, else at the one of the state directory, and where none runs
there, at what the environment configures, as svc serve reads it. Nothing is changed.

Examples:
  svc doctor
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... SVC_IDENTITY=keycloak ... svc doctor --json
`

async function doctor(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { stateDir, namedUrl, io } = context
  const url = (namedUrl ?? runningState(stateDir)?.api_url)?.replace(/\/+$/, '')
  const checks =
    url === undefined
      ? await fromEnvironment(io.env, (subject) => checkIdentity(subject))
      : await checkIdentity(await fromService(context, url))
  const findings = checks.filter(({ state }) => state === 'finding').length
  context.print.record({
    item: { healthy: findings === 0, checks },
    id: findings === 0 ? 'healthy' : 'findings',
    lines: checks.flatMap((check) => linesOf(check, io.calledAs)),
  })
  return findings === 0 ? EXIT.ok : EXIT.failure
}

function linesOf({ check, state, text, fix }: Check, calledAs: string): (readonly [string, string])[] {
  const word = { ok: 'ok', finding: 'FINDING', skipped: 'not looked at' }[state]
  return [[check, `${word}: ${text}`], ...(fix === null ? [] : [['', `  ${asTyped(fix, calledAs)}`] as const])]
}
