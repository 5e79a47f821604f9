import type { Command } from 'commander'
import { z } from 'zod'
import { DataOption } from '../../kit/option-values.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { examine } from './examine.ts'
import { GROUPS } from './groups.ts'
import { resolveTarget } from './target.ts'
import { printReport } from './report.ts'

const DoctorOptions = z.object({ only: z.array(z.enum(GROUPS)).optional() })

export function addDoctor(command: Command, runtime: Runtime): void {
  command
    .addOption(new DataOption('--only <groups>', 'look over these alone: mail,machine').choices(GROUPS).takingSeveral())
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, DoctorOptions, doctor))
}

const EXAMPLES = `
Looks at the service that --api-url, SVC_API_URL or the profile names, else at the one of the state directory, and
where none runs there, at what the environment configures, as svc serve reads it. Where there is nothing of these, this
machine alone. Exit code 1 with findings, each with what to type. Nothing is changed, nothing is sent, and no password
is shown; a session is renewed where any command would renew it.

Examples:
  svc doctor
  svc doctor --only database
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc doctor --json
`

async function doctor(
  context: Context,
  { options }: CommandInput<z.infer<typeof DoctorOptions>>,
): Promise<CommandResult> {
  const target = await resolveTarget(context)
  const checks = await examine(target, options.only)
  printReport(context, checks)
  return checks.some(({ state }) => state === 'finding') ? EXIT.failure : EXIT.ok
}
