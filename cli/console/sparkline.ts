const BARS = '▁▂▃▄▅▆▇█'
const ASCII = '_.-=+*#@'

/** Whether the terminal's texts are in UTF-8, as the locale says. */
export function isUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((text) => text !== undefined && text !== '') ?? ''
  // A terminal without a locale is most often one that can: a container's shell has none.
  return locale === '' || /utf-?8/i.test(locale)
}

/** What stands where a text was cut short. */
export function cutSign(env: NodeJS.ProcessEnv): string {
  return isUtf8(env) ? '…' : '...'
}

/** Numbers as a row of bars, at most `width` of them: of more, neighbours are added up. */
export function sparkline(numbers: readonly number[], { width, utf8 }: { width: number; utf8: boolean }): string {
  const bars = utf8 ? BARS : ASCII
  const per = Math.max(1, Math.ceil(numbers.length / Math.max(1, width)))
  const sums: number[] = []
  for (let at = 0; at < numbers.length; at += per)
    sums.push(numbers.slice(at, at + per).reduce((sum, each) => sum + each, 0))
  const most = Math.max(...sums, 1)
  const last = bars.length - 1
  return sums.map((sum) => (sum === 0 ? bars[0] : bars[Math.max(1, Math.round((sum / most) * last))])).join('')
}
