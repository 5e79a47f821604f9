import { books, list, set } from './accounts.ts'
import { create } from './customers.ts'
import { seed } from './seed.ts'

export const BOOKS = [
  seed,
  { command: 'sandbox customers', summary: 'Create customers of the bank' },
  create,
  list,
  { command: 'sandbox account', summary: 'Change bank accounts' },
  set,
  books,
]
