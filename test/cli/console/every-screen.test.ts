import t from 'tap'
import '../../support/tsx.ts'
import { plainOf } from '../../../cli/console/lines.ts'
import { authorisedPayment, createPayment, testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'

/* Every screen of an operator, drawn in a real terminal at the sizes that the console promises. */
const { SCREENS } = await import('../../../cli/console/screens.ts')
const { tabsLine } = await import('../../../cli/console/parts/header.tsx')
/** Operators are in no merchant's team. */
const OPERATORS = SCREENS.filter(({ name }) => name !== 'team')
const service = await testService(t, { worker: true })

const SIZES = [
  [60, 16],
  [80, 24],
  [140, 40],
] as const

t.test('at 60x16, 80x24 and 140x40 every screen has its name, its keys and who looks', async (t) => {
  const merchant = await service.merchant({ webhookUrl: 'https://shop.example/a/long/path/to/the/webhooks' })
  await service.merchant({ kybStatus: 'PENDING' })
  await createPayment(service, merchant, { remittance_reference: 'ORDER 4711' })
  await authorisedPayment(service, merchant)
  const console = openConsole(t, {
    url: service.url,
    env: { SVC_PLATFORM_USER: 'ada' },
    words: ['--platform'],
    columns: 60,
    rows: 16,
  })
  await console.until(/KYB waiting/)
  for (const [columns, rows] of SIZES) {
    console.resize(columns, rows)
    for (const { key, name, title, group } of OPERATORS) {
      console.press(key)
      const isDrawn = (text: string): boolean =>
        (text.split('\n', 1)[0] ?? '').length >= columns - 2 &&
        text.includes(`[${key} ${group ?? title}]`) &&
        (group === undefined || text.includes(`[${title}]`)) &&
        // What comes back to the screen after a while is told as old until it has been read.
        !/ stale /.test(text) &&
        !/Loading/.test(text)
      await console.until((text) => isDrawn(text) && / \?( help)? +q( quit)?$/m.test(text))
      const lines = console.screen()
      t.match(lines[0], /OWNER +SANDBOX +\d+ ms  (fresh|connecting) ?$/, `${name} at ${columns}x${rows}: who and how`)
      t.match(lines[2], group === undefined ? new RegExp(`^ ${title}`) : `[${title}]`, 'its name')
      for (const other of SCREENS) t.match(lines[1], new RegExp(`[[ ]${other.key}( |\\]|$)`), 'every number')
      console.shot(`${name}-${columns}x${rows}`)
    }
  }
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCooked: true })
})

t.test('tabs are named in full where there is room, shorter ones or numbers alone where there is little', async (t) => {
  const at = (width: number): string => plainOf(tabsLine(SCREENS, 'payments', width))
  t.equal(
    at(110),
    ' 1 Overview 2 KYB queue 3 Merchants [4 Payments] 5 Disputes 6 Webhooks 7 People 8 Sandbox 9 Inbox 0 Money',
  )
  t.equal(at(80), ' 1 Over 2 KYB 3 Merch [4 Payments] 5 Disp 6 Hook 7 People 8 Box 9 Inbox 0 Money')
  t.equal(at(60), at(32))
  t.equal(at(32), ' 1 2 3 [4 Payments] 5 6 7 8 9 0')
  for (const width of [32, 60, 80, 100]) t.ok(at(width).length <= width)
})
