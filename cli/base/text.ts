import { isUuid } from '../../src/lib/ids.ts'

// Controls, line separators and the marks that turn the direction of text: a payer's name must not drive the terminal.
// Nor may it hide anything: of invisible characters, only what joins letters and signs is left.
const CONTROLS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const CONTROLS_BUT_LINES = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text from elsewhere, made safe for a terminal: control characters become visible escapes. `lines` keeps line ends. */
export function printable(text: string, keep: 'nothing' | 'lines' = 'nothing'): string {
  return text.replace(keep === 'lines' ? CONTROLS_BUT_LINES : CONTROLS, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

/** A timestamp of the API as tables show it: to the second, in UTC. */
export function shortTime(timestamp: string | null): string {
  return timestamp === null ? '' : timestamp.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** The end of an id, which is enough to name it by: those of one minute differ only there. Other text as it is. */
export function endOfId(id: string): string {
  return isUuid(id) ? id.slice(-8) : id
}

export function minuteOf(time: string): string {
  return time.replace(/^\d{4}-(\d{2}-\d{2} \d{2}:\d{2}):\d{2}Z$/, '$1')
}

export function dayOf(time: string): string {
  return time.replace(/^(\d{4}-\d{2}-\d{2}) .*$/, '$1')
}
