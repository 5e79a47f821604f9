import { ELSEWHERE } from './elsewhere.ts'
import type { Rows } from './row.ts'
import { BANK_ROWS } from './rows-bank.ts'
import { LOCAL_ROWS } from './rows-local.ts'
import { MERCHANT_ROWS } from './rows-merchant.ts'
import { OPERATOR_ROWS } from './rows-operator.ts'
import { SHOP_ROWS } from './rows-shop.ts'

/** Every command of the tree. */
export const ROWS: Rows = {
  ...MERCHANT_ROWS,
  ...SHOP_ROWS,
  ...OPERATOR_ROWS,
  ...BANK_ROWS,
  ...LOCAL_ROWS,
  ...ELSEWHERE,
}
