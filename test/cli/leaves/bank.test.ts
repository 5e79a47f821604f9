import t from 'tap'
import { BANK_ROWS } from './rows-bank.ts'
import { runRows } from './run-rows.ts'

t.test('what customers of the bank do, and who plays with the sandbox: each command in each form', (t) =>
  runRows(t, BANK_ROWS),
)
