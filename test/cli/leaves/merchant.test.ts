import t from 'tap'
import { MERCHANT_ROWS } from './rows-merchant.ts'
import { SHOP_ROWS } from './rows-shop.ts'
import { runRows } from './run-rows.ts'

t.test('what merchants do: each command in each form', (t) => runRows(t, { ...MERCHANT_ROWS, ...SHOP_ROWS }))
