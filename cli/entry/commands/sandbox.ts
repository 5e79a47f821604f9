import { MAIL } from '../../mail/commands.ts'
import { BANK } from '../../sandbox/bank-fault.ts'
import { BOOKS } from '../../sandbox/bank.ts'
import { CLOCK } from '../../sandbox/clock.ts'
import { reset } from '../../scenario/commands/reset.ts'
import { run } from '../../scenario/commands/run.ts'
import { SCENARIOS } from '../../scenario/commands/scenarios.ts'

/** `svc sandbox`: what stands in two folders, since scenarios build on the rest. */
export const SANDBOX = [{ ...run, command: 'sandbox run' }, ...SCENARIOS, ...CLOCK, ...BANK, ...BOOKS, ...MAIL, reset]
