import { endOfId } from '../../base/text.ts'
import { TEST_ACTIONS } from '../../webhooks/endpoint-actions.ts'
import { actionKeys } from '../action-key.ts'
import { leadingKey } from '../screen.ts'
import type { ScreenKey } from '../screen.ts'
import { explainText } from './merchant-text.ts'
import { rotateSecretKey } from './secret-key.ts'
import { bodyLines } from './webhook-lines.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { readWhole } from './webhook-read.ts'
import { REPLAY_KEYS } from './webhook-replay.ts'

/** Those of the list that are dead. */
const filterDead = leadingKey<DeliveryRow>({
  key: 'D',
  label: 'dead only',
  on: 'list',
  needs: 'nothing',
  command: (_row, _given, { kind }) =>
    `svc webhooks list --status DEAD${kind === 'platform' ? ' --all-merchants' : ''}`,
  to: () => ['webhooks', { filter: 'DEAD' }],
})

/** What was sent and answered. Operators may not read it: the story of it stands in the detail. */
const bodies: ScreenKey<DeliveryRow> = {
  key: 'd',
  label: 'bodies',
  for: 'merchant',
  needs: 'one',
  command: ({ id }) => `svc webhooks show ${id}`,
  async run({ id, event_type: event }, _given, { client, who, show }) {
    const whole = await readWhole({ client, who, arg: id })
    show(`${event} (${endOfId(id)})`, bodyLines(whole))
    return undefined
  },
}

const payment = leadingKey<DeliveryRow>({
  key: 'o',
  label: 'its payment',
  fits: ({ payment_id: id }) => id !== null,
  command: ({ payment_id: id }, _given, { kind }) => explainText(id ?? '', kind),
  to: ({ payment_id: id }) => ['payments', { open: id ?? '' }],
})

/** What can be done about deliveries; each stands as a command of `svc webhooks` too. */
export const WEBHOOK_KEYS: readonly ScreenKey<DeliveryRow>[] = [
  ...REPLAY_KEYS,
  filterDead,
  ...actionKeys(TEST_ACTIONS, { get: (row: DeliveryRow) => row, set: (row) => row }),
  rotateSecretKey,
  bodies,
  payment,
]
