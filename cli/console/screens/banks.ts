import { listBankConnections } from '../../../src/wire/bank-connections.ts'
import type { BankConnection } from '../../../src/wire/bank-connections.ts'
import { dayOf, shortTime } from '../../base/text.ts'
import { BANK_ACTIONS } from '../../banks/actions.ts'
import { BANK_COLUMNS } from '../../banks/view.ts'
import { call } from '../../client/call.ts'
import { actionKeys } from '../action-key.ts'
import { EMPTY_LINE, line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Page, Reading } from '../screen.ts'

/** A bank falls silent and comes back without an event. */
const OLD_MS = 20_000

type Statement = { text: string; isWrong: boolean }

export const banks = screen<BankConnection, never, Statement>({
  key: '0',
  group: 'Money',
  short: 'Money',
  reads: ['operate merchants'],
  name: 'banks',
  title: 'Banks',
  list: { read: readBanks, isDirty: () => false, isOld: (_rows, { readAt, now }) => now - readAt > OLD_MS },
  id: ({ id }) => id,
  head: (_rows, _layout, statement) =>
    statement === undefined ? [] : [line(` ${statement.text}`, statement.isWrong ? 'bad' : 'dim'), EMPTY_LINE],
  columns: () => BANK_COLUMNS,
  empty: 'No bank is configured.',
  open: (row, { show }) => show(row.name, linesOf(row)),
  keys: actionKeys<BankConnection, BankConnection>(BANK_ACTIONS, { get: (row) => row, set: (_row, bank) => bank }),
})

async function readBanks({ client }: Reading): Promise<Page<BankConnection, Statement>> {
  const { data, software_statement: statement } = (await call(client, listBankConnections, {})).body
  const extra =
    statement === null
      ? { text: 'No software statement is set: svc banks software-statement set', isWrong: data.length > 0 }
      : {
          text: `Software ${statement.software_id}: its certificate ends on ${dayOf(statement.certificate_ends_at)}`,
          isWrong: Date.parse(statement.certificate_ends_at) < Date.now(),
        }
  return { rows: data, next: null, extra }
}

function linesOf({ id, issuer, client_id: clientId, quirks, last_test: test }: BankConnection): string[] {
  return [
    issuer,
    clientId === null ? `Not registered: svc banks connect ${id} --reason "..."` : `Registered as ${clientId}`,
    `Deviations: ${quirks.length === 0 ? 'none' : quirks.join(', ')}`,
    '',
    test === null ? `Not tested yet: svc banks test ${id}` : `Tested ${shortTime(test.tested_at)} by ${test.tested_by}`,
    ...(test?.steps ?? []).map(({ step, passed, detail }) => `${passed ? '✓' : '✗'} ${step}: ${detail}`),
  ]
}
