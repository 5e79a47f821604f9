import { Text } from 'ink'
import type { ReactElement } from 'react'
import { printable } from '../../base/text.ts'
import { cutTo } from '../lines.ts'
import type { Line, Tone } from '../lines.ts'

type TextProps = Omit<Parameters<typeof Text>[0], 'children'>

const LOOKS: Readonly<Record<Tone, TextProps>> = {
  good: { color: 'green' },
  bad: { color: 'red' },
  warn: { color: 'yellow' },
  info: { color: 'cyan' },
  dim: { dimColor: true },
  bold: { bold: true },
  selected: { inverse: true },
  fresh: { bold: true, color: 'cyan' },
  live: { color: 'white', backgroundColor: 'red', bold: true },
}

/** One line of the screen, already cut to its width. `look` lies below the looks of its pieces. */
export function TextLine({ parts, look }: { parts: Line; look?: Tone | undefined }): ReactElement {
  return (
    <Text wrap="truncate" {...(look === undefined ? {} : LOOKS[look])}>
      {parts.every(({ text }) => text === '')
        ? ' '
        : parts.map(({ text, tone }, index) => (
            <Text key={index} {...(tone === undefined || look === 'selected' ? {} : LOOKS[tone])}>
              {printable(text)}
            </Text>
          ))}
    </Text>
  )
}

export function Lines({
  lines,
  width,
  indent = '',
}: {
  lines: readonly Line[]
  width?: number
  indent?: string
}): ReactElement {
  return (
    <>
      {lines.map((parts, index) => (
        <TextLine
          key={index}
          parts={[...(indent === '' ? [] : [{ text: indent }]), ...(width === undefined ? parts : cutTo(parts, width))]}
        />
      ))}
    </>
  )
}
