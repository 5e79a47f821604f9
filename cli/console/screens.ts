import type { Screen } from './screen.ts'
import { audit } from './screens/audit.ts'
import { banks } from './screens/banks.ts'
import { disputes } from './screens/disputes.ts'
import { inbox } from './screens/inbox.ts'
import { kyb, merchants } from './screens/merchants.ts'
import { balances, differences, payouts, settlements } from './screens/money.ts'
import { overview } from './screens/overview.ts'
import { payments } from './screens/payments.ts'
import { staff, team } from './screens/people.ts'
import { sandbox } from './screens/sandbox.ts'
import { webhooks } from './screens/webhooks.ts'

export const SCREENS: readonly Screen[] = [
  overview,
  kyb,
  merchants,
  payments,
  disputes,
  webhooks,
  audit,
  staff,
  team,
  sandbox,
  inbox,
  balances,
  settlements,
  payouts,
  differences,
  banks,
]
