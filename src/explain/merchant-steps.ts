import { KYB_TRANSITIONS } from '../merchants/states.ts'
import type { KybTrigger } from '../merchants/states.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import { commandFor, nextSteps } from './next-steps.ts'
import type { Command, StepRules } from './next-steps.ts'
import type { ToldMerchant } from './record.ts'
import type { Viewer } from './viewer.ts'

const RULES: StepRules<KybTrigger, ToldMerchant> = {
  registration: { by: 'the merchant, who registers' },
  approval: { by: 'an operator', how: (it) => [operators(it, 'svc kyb approve')] },
  refusal: { by: 'an operator', how: (it) => [operators(it, 'svc kyb refuse')] },
  suspension: { by: 'an operator', how: (it) => [operators(it, 'svc kyb suspend')] },
  reinstatement: { by: 'an operator', how: (it) => [operators(it, 'svc kyb reinstate')] },
}

/** What can become of a merchant. */
export function merchantSteps(merchant: ToldMerchant, viewer: Viewer): NextStep[] {
  return nextSteps({ table: KYB_TRANSITIONS, rules: RULES, from: merchant.kyb_status, facts: merchant, viewer })
}

/** What stands in a merchant's way beside its KYB status, and how it is taken away. */
export function otherMerchantSteps(merchant: ToldMerchant, viewer: Viewer): OtherStep[] {
  const byOperator = (what: string, command: string): OtherStep => ({
    what,
    by: 'an operator',
    how: commandFor([operators(merchant, command)], viewer),
  })
  const byMerchant = (what: string, type: string): OtherStep => ({
    what,
    by: 'the merchant',
    how: commandFor([{ side: 'merchant', needs: 'manage webhooks', type }], viewer),
  })
  return [
    ...(merchant.payout_held ? [byOperator('release its payouts', 'svc hold release')] : []),
    ...(merchant.is_active ? [] : [byOperator('enable it', 'svc merchants enable')]),
    ...(merchant.is_paused ? [byMerchant('resume its endpoint', 'svc webhooks endpoint resume')] : []),
    ...(merchant.has_endpoint || merchant.is_paused
      ? []
      : [byMerchant('set a webhook endpoint', 'svc webhooks endpoint set <url>')]),
    ...(merchant.dead_deliveries === 0 ? [] : [byMerchant('see what is DEAD', 'svc webhooks list --status DEAD')]),
  ]
}

function operators({ id, realm_slug }: ToldMerchant, command: string): Command {
  return { side: 'operator', needs: 'operate merchants', type: `${command} ${realm_slug ?? id} --reason "..."` }
}
