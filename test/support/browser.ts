import { mkdir, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import packed from '@sparticuz/chromium'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'

/** The Chromium that the tests bring is built for this; elsewhere an installed Chrome is used. */
const BRINGS_ITS_OWN = process.platform === 'linux' && process.arch === 'x64'

/** A real Chromium, closed at the test's end. */
export async function openBrowser(t: Test, args: readonly string[] = []): Promise<Browser> {
  const browser = await launchBrowser(args)
  t.teardown(() => browser.close())
  return browser
}

/** A real Chromium, which the caller closes. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  if (!BRINGS_ITS_OWN) return chromium.launch({ channel: 'chrome', args: [...args] })
  return chromium.launch({ executablePath: await unpacked(), args: ['--no-sandbox', '--disable-gpu', ...args] })
}

const LOCK = join(tmpdir(), 'svc-test-chromium.lock')
const STALE_MS = 60_000

/** Unpacks it once a machine. Test files run side by side, and one must not start what another still writes. */
async function unpacked(): Promise<string> {
  for (;;) {
    try {
      await mkdir(LOCK)
      break
    } catch {
      const since = await stat(LOCK).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      )
      if (Date.now() - since > STALE_MS) await rmdir(LOCK).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  try {
    return await packed.executablePath()
  } finally {
    await rmdir(LOCK)
  }
}

export type Watched = {
  page: Page
  context: BrowserContext
  /** What the browser complained of: broken policies, failed scripts, missing files. */
  complaints: string[]
}

/** A window of its own, with the cookies of nobody else, whose complaints are kept. */
export async function openPage(browser: Browser, viewport = { width: 1_280, height: 800 }): Promise<Watched> {
  const context = await browser.newContext({ viewport })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // That a page was answered with 4xx is told too; the tests look at what it says.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
    if ((message.type() === 'error' || message.type() === 'warning') && !isStatus) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints }
}

/** The rules of accessibility that a page breaks, those of WCAG 2.2 AA and good practice, with where it does. */
export async function accessibilityProblems(page: Page, only?: 'color-contrast'): Promise<string[]> {
  const audit = new AxeBuilder({ page })
  const { violations } = await (only === undefined ? audit : audit.withRules(only)).analyze()
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${impact ?? 'unknown'} ${id}: ${html} ${failureSummary ?? ''}`),
  )
}
