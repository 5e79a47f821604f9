import { Box, Text, useApp, useInput, useIsScreenReaderEnabled, usePaste, useWindowSize } from 'ink'
import { useEffect, useSyncExternalStore } from 'react'
import type { ReactElement } from 'react'
import type { Console } from './console.ts'
import { keyNames } from './press.ts'
import { Body } from './parts/body.tsx'
import { Footer } from './parts/footer.tsx'
import { Header } from './parts/header.tsx'
import { Spoken } from './parts/spoken.tsx'
import type { Suspend } from './terminal.ts'

const COLUMNS_MIN = 60
const ROWS_MIN = 16

export function App({ console, onTerminal }: { console: Console; onTerminal(suspend: Suspend): void }): ReactElement {
  useSyncExternalStore(console.subscribe, console.state)
  const { columns, rows } = useWindowSize()
  const { suspendTerminal } = useApp()
  const isSpoken = useIsScreenReaderEnabled()
  useEffect(() => onTerminal(suspendTerminal), [onTerminal, suspendTerminal])
  useEffect(() => console.update({ size: { columns, rows } }), [console, columns, rows])
  const isTooSmall = !isSpoken && (columns < COLUMNS_MIN || rows < ROWS_MIN)
  useInput((input, key) => {
    const names = keyNames(input, key)
    // Keys have no effect on what is not drawn.
    console.press(isTooSmall ? names.filter((name) => name === 'ctrl-c') : names)
  })
  usePaste((text) => {
    if (!isTooSmall) console.paste(text)
  })
  if (isSpoken) return <Spoken console={console} />
  if (isTooSmall)
    return (
      <Box flexDirection="column">
        <Text wrap="truncate">
          svc needs {COLUMNS_MIN}x{ROWS_MIN}, this is {columns}x{rows}
        </Text>
        {rows > 1 ? <Text wrap="truncate">ctrl-c quits</Text> : null}
      </Box>
    )
  // The state may be a moment behind the terminal that has just been resized: nothing is drawn beyond its edge.
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Header console={console} width={columns} />
      <Body console={console} width={columns} />
      <Footer console={console} width={columns} />
    </Box>
  )
}
