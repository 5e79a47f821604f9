import type { Paint } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import type { Failure } from '../failure.ts'
import { cameShown, curlOf, maskedDifference, replyOf } from '../masked.ts'
import { answerText } from '../play/receiver.ts'
import type { Receipt } from '../play/receiver.ts'

export function failureLines(failure: Failure, paint: Paint): string[] {
  const { place, step, label, message, excerpt } = failure
  const where = `${place.file}:${place.line}:${place.column}`
  const what = step === 0 ? 'before the first step' : `step ${label}`
  return [
    `${paint('cyan', where)} ${what}: ${paint('bold', printable(message))}`,
    '',
    ...excerpt.map((line) =>
      line.startsWith('>') || /^ +\| *\^/.test(line) ? paint('yellow', printable(line)) : printable(line),
    ),
    ...factLines(failure, paint),
    '',
    `${paint('dim', 'Again:')} ${printable(failure.rerun)}`,
  ]
}

export type Happened = Pick<Failure, 'differences' | 'hint' | 'payments' | 'webhooks' | 'came' | 'exchange'>

export function factLines(failure: Happened, paint: Paint): string[] {
  const { differences, hint } = failure
  return [
    ...section(
      '',
      differences.flatMap((difference) => differenceLines(maskedDifference(difference), paint)),
    ),
    ...(hint === undefined ? [] : ['', `${paint('yellow', 'Try:')} ${printable(hint)}`]),
    ...failure.payments.flatMap(({ name, payment }) =>
      section(
        paint('dim', printable(paymentTitle(name, payment))),
        historyOf(payment).map((line) => printable(line)),
      ),
    ),
    ...webhookLines(failure.webhooks, paint),
    ...cameLines(failure, paint),
    ...exchangeLines(failure, paint),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  return title === '' ? ['', ...lines] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function differenceLines({ path, expected, actual }: Failure['differences'][number], paint: Paint): string[] {
  const name = path === '' ? 'value' : path
  return [
    `${printable(name)}: expected ${paint('green', printable(expected))}`,
    `${' '.repeat(name.length)}       but is ${paint('red', printable(actual))}`,
  ]
}

type Payment = Failure['payments'][number]['payment']

function paymentTitle(name: string, { payment_id: id, status, failure }: Payment): string {
  const why = failure === null ? '' : `, ${failure.code}: ${failure.reason}`
  return `Payment ${name === '' ? '' : `${name} `}${id} is ${status}${why}`
}

function historyOf({ status_history: history }: Payment): string[] {
  return history.map(
    (change) => `${timeOf(change.created_at)}  ${change.new_status.padEnd(22)} by ${change.changed_by}`,
  )
}

function webhookLines(webhooks: readonly Receipt[] | undefined, paint: Paint): string[] {
  if (webhooks === undefined) return section(paint('dim', 'Webhooks: this case has no receiver'), [' '].slice(1))
  const lines = webhooks.map((receipt, index) => {
    const attempt = webhooks.slice(0, index + 1).filter((other) => other.eventId === receipt.eventId).length
    const again = attempt > 1 ? ` (attempt ${attempt})` : ''
    const signature = receipt.signature === 'valid' ? '' : `, signature ${receipt.signature}`
    return `${timeOf(new Date(receipt.arrivedAt).toISOString())}  ${printable(receipt.eventType).padEnd(22)} ${answerText(receipt)}${again}${signature}`
  })
  return section(paint('dim', 'Webhooks that the receiver got'), lines.length === 0 ? ['none'] : lines)
}

const CAME_LINES_MAX = 60

function cameLines({ came }: Happened, paint: Paint): string[] {
  if (came === undefined) return []
  const lines = JSON.stringify(cameShown(came), null, 2).split('\n')
  const shown = lines.length > CAME_LINES_MAX ? [...lines.slice(0, CAME_LINES_MAX), '…'] : lines
  return section(
    paint('dim', printable(`What came: ${came.what}`)),
    shown.map((line) => printable(line)),
  )
}

function exchangeLines({ exchange }: Happened, paint: Paint): string[] {
  if (exchange === undefined) return []
  return section(paint('dim', 'Last request'), [
    printable(curlOf(exchange)),
    printable(`answered ${replyOf(exchange)}`),
  ])
}

function timeOf(timestamp: string): string {
  return timestamp.slice(11, 24)
}
