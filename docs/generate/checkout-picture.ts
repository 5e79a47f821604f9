import { MOCK_BANKS } from '../../src/banks/catalogue.ts'
import { colourOf, monogramOf } from '../../src/lib/bank-mark.ts'
import { html } from '../../src/lib/html.ts'
import type { Html } from '../../src/lib/html.ts'
import { receipt } from '../../src/lib/locales/checkout/en-receipt.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { qrCode } from '../../src/lib/qr-code.ts'

/* The picture of the checkout in the guide: its screens with their texts, in the reader's light or dark colours. */
const PANEL = { width: 250, height: 400, gap: 20 }
const LINE_CHARACTERS_MAX = 32
const SHOP = { merchant: 'Tea & Co', amount: '£12.50', bank: 'Fern' }

/** As widget/styles.css has them. */
const STYLE = `
:root { --primary: #0b5fff; --on: #fff; --page: #fff; --text: #111; --soft: #55606e; --line: #8a94a3; --rule: #dce2ea; --good: #137333 }
@media (prefers-color-scheme: dark) { :root { --primary: #8ab8ff; --on: #0a1626; --page: #151a21; --text: #eef2f7; --soft: #b3bdca;
  --line: #6b7686; --rule: #343e4b } }
text { font: 13px system-ui, sans-serif; fill: var(--text) } .soft { fill: var(--soft) } .bold { font-weight: 600 }
.title { font-size: 16px; font-weight: 700 } .mark { fill: #fff; font-weight: 600 } .on { fill: var(--on); font-weight: 600 }
.page { fill: var(--page); stroke: var(--rule) } .box { fill: none; stroke: var(--line) } .main { fill: var(--primary) }
.rule { stroke: var(--rule) } .good { fill: var(--good) }
`

type Text = { x: number; y: number; of: string; as?: string; at?: 'start' | 'middle' | 'end' }

function text({ x, y, of, as = '', at = 'start' }: Text): Html {
  return html`<text x="${String(x)}" y="${String(y)}" class="${as}" text-anchor="${at}">${of}</text>
`
}

/** SVG does not wrap lines. */
function paragraph(of: string, y: number): Html[] {
  const lines: string[] = []
  for (const word of fill(of).split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim()
    if (lines.length === 0 || longer.length > LINE_CHARACTERS_MAX) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines.map((line, index) => text({ x: 16, y: y + index * 18, of: line }))
}

function fill(of: string): string {
  return of.replaceAll(/\{(\w+)\}/g, (whole, name: string) => (SHOP as Record<string, string>)[name] ?? whole)
}

function rule(y: number): Html {
  return html`<path class="rule" d="M16 ${String(y)}h218"/>
`
}

function button(label: string, y: number): Html {
  return html`<rect class="main" x="16" y="${String(y)}" width="218" height="36" rx="8"/>
${text({ x: 125, y: y + 23, of: fill(label), as: 'on', at: 'middle' })}`
}

function fact(name: string, value: string, y: number): Html {
  return html`${text({ x: 16, y, of: name, as: 'soft' })}${text({ x: 234, y, of: value, at: 'end' })}${rule(y + 10)}`
}

function bank(index: number): Html {
  const name = MOCK_BANKS[index]?.name ?? ''
  const [x, y] = [16 + (index % 2) * 113, 118 + Math.floor(index / 2) * 68]
  const [short = name] = name.split(' ')
  return html`<rect class="box" x="${String(x)}" y="${String(y)}" width="105" height="60" rx="8"/>
<rect x="${String(x + 39)}" y="${String(y + 8)}" width="27" height="24" rx="6" fill="${colourOf(index)}"/>
${text({ x: x + 52.5, y: y + 25, of: monogramOf(name), as: 'mark', at: 'middle' })}${text({ x: x + 52.5, y: y + 49, of: short, at: 'middle' })}`
}

function code(): Html {
  const rows = qrCode('https://pay.example/go?state=example', 0)
  const size = 3.6
  const dots = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return html`<rect x="50" y="150" width="150" height="150" rx="6" fill="#fff"/>
<path transform="translate(${String(125 - (rows.length * size) / 2)} ${String(225 - (rows.length * size) / 2)}) scale(${String(size)})" d="${dots.join('')}"/>
`
}

const SCREENS: readonly Html[] = [
  html`${text({ x: 16, y: 80, of: en.consentTitle, as: 'title' })}${paragraph(en.consentText, 106)}${fact(en.payee, SHOP.merchant, 200)}${fact(en.amount, SHOP.amount, 232)}${button(en.continue, 262)}${text({ x: 125, y: 326, of: fill(en.cancel), at: 'middle' })}`,
  html`${text({ x: 16, y: 80, of: en.banksTitle, as: 'title' })}${text({ x: 16, y: 106, of: en.popular, as: 'bold' })}${[0, 1, 2, 3, 4, 5].map(bank)}${text({ x: 16, y: 344, of: en.search, as: 'bold' })}<rect class="box" x="16" y="352" width="218" height="34" rx="8"/>
`,
  html`${text({ x: 16, y: 80, of: en.qrTitle, as: 'title' })}${paragraph(en.mobileText, 106)}${code()}${button(en.scanned, 312)}${text({ x: 125, y: 374, of: en.thisBrowser, at: 'middle' })}`,
  html`<circle class="good" cx="34" cy="84" r="18"/>
${text({ x: 34, y: 89, of: '✓', as: 'mark', at: 'middle' })}${text({ x: 16, y: 128, of: en.paidTitle, as: 'title' })}${paragraph(en.paidText, 152)}${fact(receipt.gross, SHOP.amount, 190)}${fact(receipt.date, '9 June 2026', 222)}${fact(en.reference, 'ORDER-1042', 254)}${button(en.back, 282)}`,
]

/** The same texts and colours always make the same picture. */
export function checkoutPicture(): string {
  const width = SCREENS.length * (PANEL.width + PANEL.gap) - PANEL.gap + 2
  const panels = SCREENS.map(
    (screen, index) => html`<g transform="translate(${String(1 + index * (PANEL.width + PANEL.gap))} 1)">
<rect class="page" width="${String(PANEL.width)}" height="${String(PANEL.height)}" rx="12"/>
${text({ x: 16, y: 32, of: SHOP.merchant, as: 'bold' })}${text({ x: 234, y: 32, of: SHOP.amount, as: 'title', at: 'end' })}${rule(48)}${screen}</g>
`,
  )
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(PANEL.height + 2)}" role="img" aria-label="The screens of the checkout">
<style>${{ html: STYLE }}</style>
${panels}</svg>
`.html
}
