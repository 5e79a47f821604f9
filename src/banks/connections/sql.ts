import type { CommonQueryMethods } from 'slonik'
import { sql } from '../../db/sql.ts'
import { RegistrationRow, StatementRow, TestRow } from './record.ts'
import type { TestStep } from './record.ts'

export function findStatement(tx: CommonQueryMethods): Promise<StatementRow | null> {
  return tx.maybeOne(sql.type(StatementRow)`
    select software_id, statement, set_by, set_at from bank_software_statements where id = 'current'
  `)
}

export async function putStatement(
  tx: CommonQueryMethods,
  row: { softwareId: string; statement: string; setBy: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into bank_software_statements (id, software_id, statement, set_by)
    values ('current', ${row.softwareId}, ${row.statement}, ${row.setBy})
    on conflict (id) do update set
      software_id = excluded.software_id, statement = excluded.statement, set_by = excluded.set_by, set_at = now()
  `)
}

const registrationColumns = sql.fragment`bank_id, software_id, client_id, registered_by, registered_at`

export function listRegistrations(tx: CommonQueryMethods, softwareId: string): Promise<readonly RegistrationRow[]> {
  return tx.any(sql.type(RegistrationRow)`
    select ${registrationColumns} from bank_registrations where software_id = ${softwareId} order by bank_id
  `)
}

export function findRegistration(
  tx: CommonQueryMethods,
  key: { bankId: string; softwareId: string },
): Promise<RegistrationRow | null> {
  return tx.maybeOne(sql.type(RegistrationRow)`
    select ${registrationColumns} from bank_registrations
    where bank_id = ${key.bankId} and software_id = ${key.softwareId}
  `)
}

export function putRegistration(
  tx: CommonQueryMethods,
  row: { bankId: string; softwareId: string; clientId: string; registeredBy: string },
): Promise<RegistrationRow> {
  return tx.one(sql.type(RegistrationRow)`
    insert into bank_registrations (bank_id, software_id, client_id, registered_by)
    values (${row.bankId}, ${row.softwareId}, ${row.clientId}, ${row.registeredBy})
    on conflict (bank_id, software_id) do update set
      client_id = excluded.client_id, registered_by = excluded.registered_by, registered_at = now()
    returning ${registrationColumns}
  `)
}

const testColumns = sql.fragment`bank_id, passed, steps, tested_by, tested_at, passed_at`

export function listTests(tx: CommonQueryMethods): Promise<readonly TestRow[]> {
  return tx.any(sql.type(TestRow)`select ${testColumns} from bank_tests order by bank_id`)
}

export function putTest(
  tx: CommonQueryMethods,
  row: { bankId: string; steps: readonly TestStep[]; passed: boolean; testedBy: string },
): Promise<TestRow> {
  return tx.one(sql.type(TestRow)`
    insert into bank_tests (bank_id, passed, steps, tested_by, passed_at)
    values (
      ${row.bankId}, ${row.passed}, ${JSON.stringify(row.steps)}::jsonb, ${row.testedBy},
      case when ${row.passed}::boolean then now() end
    )
    on conflict (bank_id) do update set
      passed = excluded.passed, steps = excluded.steps, tested_by = excluded.tested_by, tested_at = now(),
      passed_at = coalesce(excluded.passed_at, bank_tests.passed_at)
    returning ${testColumns}
  `)
}
