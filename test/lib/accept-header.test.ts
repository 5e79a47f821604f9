import t from 'tap'
import { prefersType } from '../../src/lib/accept-header.ts'

const prefersCsv = (accept?: string): boolean =>
  prefersType(accept, 'text/csv; charset=utf-8; header=present', 'application/json')

t.test('CSV is sent to clients that prefer it', async (t) => {
  for (const accept of [
    'text/csv',
    'TEXT/CSV',
    ' text/csv ',
    'text/*',
    'text/csv, application/json;q=0.9',
    'application/json;q=0.5,text/csv;q=0.6',
    'text/csv;q=0.1',
    'text/csv;header=present',
    'text/csv; charset="UTF-8"; q=0.8, application/json; q=0.7',
    'text/csv, */*',
    'text/csv;q=0.5, */*;q=0.1',
    'text/csv, application/json;q=0',
    'application/*;q=0.2, text/*;q=0.3',
    'nonsense, text/csv',
  ])
    t.equal(prefersCsv(accept), true, accept)
})

t.test('JSON is sent to all others, and to clients that accept neither', async (t) => {
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv, application/json',
    'text/csv;q=0.5, application/json;q=0.6',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0',
    'text/csv;q=0, */*',
    'text/*, text/csv;q=0',
    'text/csv;q=2',
    'text/csv;q=high',
    'text/csv;header=absent',
    'text/csv;charset=utf-16',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'image/png',
    'csv',
    'text/csvx',
    ',;,=',
  ])
    t.equal(prefersCsv(accept), false, String(accept))
})
