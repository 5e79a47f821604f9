import { buttonTextOn, contrastRatio, ratioText } from '../../src/lib/contrast.ts'
import type { Branding } from '../../src/wire/settings.ts'
import type { Context } from '../kit/context.ts'
import { printable } from '../base/text.ts'

export function printLook({ print, note, paint }: Context, look: Branding): void {
  print.record(look, [
    ['Primary', look.colors.primary],
    ['Background', look.colors.background],
    ['Text', look.colors.text],
    ['Logo', look.logo_url ?? 'none'],
    ['Font', look.font],
  ])
  for (const { path, message } of look.warnings) note(`${paint('yellow', 'Warning')}: ${path}: ${message}`)
}

function contrasts({ primary, background, text }: Branding['colors']) {
  return {
    text: { on: background, colour: text, ratio: ratioText(contrastRatio(text, background)) },
    button: {
      on: primary,
      colour: buttonTextOn(primary),
      ratio: ratioText(contrastRatio(buttonTextOn(primary), primary)),
    },
    button_edge: { on: background, colour: primary, ratio: ratioText(contrastRatio(primary, background)) },
  }
}

/** The look as far as a terminal can draw it: the page, its text and a button, in their colours. */
export function printPreview({ print, note, paint }: Context, look: Branding): void {
  const contrast = contrasts(look.colors)
  const sketch = sketchOf(look, { isColoured: print.paint('bold', 'x') !== 'x' })
  print.record(
    { ...look, contrast },
    [
      ['Text', `${contrast.text.colour} on ${contrast.text.on}, contrast ${contrast.text.ratio}`],
      ['Button', `${contrast.button.colour} on ${contrast.button.on}, contrast ${contrast.button.ratio}`],
      [
        'Button on page',
        `${contrast.button_edge.colour} on ${contrast.button_edge.on}, contrast ${contrast.button_edge.ratio}`,
      ],
      ['Logo', look.logo_url ?? 'none'],
      ['Font', look.font],
    ],
    { id: look.colors.primary, after: sketch.join('\n') },
  )
  for (const { path, message } of look.warnings) note(`${paint('yellow', 'Warning')}: ${path}: ${message}`)
}

const WIDTH = 40
const BUTTON = '   Pay by bank   '

/** Lines of equal width; without colours a frame stands for the page. */
function sketchOf({ colors, logo_url: logo }: Branding, { isColoured }: { isColoured: boolean }): string[] {
  const { background, text, primary } = colors
  const lines = ['', logo === null ? '' : `[${printable(logo.split('/').at(-1) ?? '')}]`, 'Your order', '50.00 GBP', '']
  if (!isColoured) {
    const framed = [...lines, `[${BUTTON}]`, ''].map((line) => `| ${cut(line).padEnd(WIDTH - 4)} |`)
    return [`+${'-'.repeat(WIDTH - 2)}+`, ...framed, `+${'-'.repeat(WIDTH - 2)}+`]
  }
  const page = (line: string): string => inColours(line, text, background)
  const blank = ' '.repeat(WIDTH - 2 - BUTTON.length)
  const button = `${page('  ')}${inColours(BUTTON, buttonTextOn(primary), primary)}${page(blank)}`
  return [...lines.map((line) => page(`  ${cut(line)}`.padEnd(WIDTH))), button, page(' '.repeat(WIDTH))]
}

function cut(line: string): string {
  return line.length > WIDTH - 4 ? `${line.slice(0, WIDTH - 5)}…` : line
}

/** The terminal's own palette has no such colours, so they are asked for by their values. */
function inColours(line: string, text: string, background: string): string {
  return `\u001b[38;2;${channels(text)};48;2;${channels(background)}m${line}\u001b[0m`
}

function channels(colour: string): string {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16)).join(';')
}
