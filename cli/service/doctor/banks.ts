import type { BankConnection, SoftwareStatement } from '../../../src/wire/bank-connections.ts'
import { finding, ok, reasonOf, remark, runChecks, skipped } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'

export type BankSetup = { banks: readonly BankConnection[]; statement: SoftwareStatement | null }

/** Time to get another certificate from the directory, and for the banks to know it. */
const WARNING_DAYS = 30
const DAY_MS = 86_400_000
/** A statement in files is the operator's to change, and is read when the service starts. */
const RENEWALS: Readonly<Record<SoftwareStatement['source'], { what: string; fix: string }>> = {
  database: { what: '', fix: 'svc banks rotate-keys --file software-statement.json --reason "..."' },
  file: {
    what: '; put the new one into its file, and start the service again',
    fix: 'svc banks software-statement show',
  },
}

export async function checkBanks(target: DoctorTarget): Promise<Check[]> {
  const setup = await target
    .subject()
    .then((subject) => subject.bankSetup())
    .catch(reasonOf)
  if (typeof setup === 'string') return runChecks({ banks: () => skipped(setup) })
  const { banks, statement } = setup
  if (banks.length === 0) return runChecks({ banks: () => skipped('no bank is configured') })
  if (statement === null) return runChecks({ 'software statement': missingStatement })
  return runChecks({
    'software statement': () => ok(`software ${statement.software_id}, kept in the ${statement.source}`),
    certificate: () => endCheck('the certificate', statement.certificate_ends_at, statement),
    assertion: () => endCheck('the software statement assertion', statement.ssa_ends_at, statement),
    registrations: () => registrationsCheck(banks),
    tests: () => testsCheck(banks),
    answers: () => answersCheck(banks),
  })
}

export function missingStatement(): Verdict {
  return finding(
    'no software statement is set: no bank can be paid with',
    'svc banks software-statement set --file software-statement.json --reason "..."',
  )
}

export function endCheck(what: string, endsAt: string | null, { source }: SoftwareStatement): Verdict {
  if (endsAt === null) return ok(`${what} has no end`)
  const days = Math.floor((Date.parse(endsAt) - Date.now()) / DAY_MS)
  const day = endsAt.slice(0, 10)
  const renewal = RENEWALS[source]
  if (days < 0) return finding(`${what} ended on ${day}: banks reject every call${renewal.what}`, renewal.fix)
  if (days < WARNING_DAYS) return finding(`${what} ends on ${day}, in ${days} days${renewal.what}`, renewal.fix)
  return ok(`${what} ends on ${day}`)
}

export function registrationsCheck(banks: readonly BankConnection[]): Verdict {
  const [first, ...more] = banks.filter(({ client_id: clientId }) => clientId === null)
  if (first === undefined) return ok(`registered at ${banks.length}`)
  return finding(`not registered at ${namesOf([first, ...more])}`, `svc banks connect ${first.id} --reason "..."`)
}

export function testsCheck(banks: readonly BankConnection[]): Verdict {
  const failed = banks.filter(({ last_test: last }) => last?.passed === false)
  if (failed[0] !== undefined)
    return finding(`the last test failed: ${namesOf(failed)}`, `svc banks test ${failed[0].id}`)
  const unproven = banks.filter(({ is_proven: isProven }) => !isProven)
  if (unproven[0] !== undefined) return remark(`unproven: ${namesOf(unproven)}`, `svc banks test ${unproven[0].id}`)
  return ok('each bank has passed a test here')
}

export function answersCheck(banks: readonly BankConnection[]): Verdict {
  const silent = banks.filter(({ available, client_id: clientId }) => !available && clientId !== null)
  if (silent[0] === undefined) return ok('no bank is known to be silent')
  return finding(`payers are not offered ${namesOf(silent)}: no answer`, `svc banks test ${silent[0].id}`)
}

function namesOf(banks: readonly BankConnection[]): string {
  return banks.map(({ id }) => id).join(', ')
}
