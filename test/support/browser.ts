import { mkdir, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packed from '@sparticuz/chromium'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { runAxe } from './axe.ts'
import type { AxeRules } from './axe.ts'

/** The Chromium that the tests bring is built for this; elsewhere an installed Chrome is used. */
const BRINGS_ITS_OWN = process.platform === 'linux' && process.arch === 'x64'

/** How long a window waits for what has to come: on a busy machine that is long, and a test that passes waits no longer. */
export const PATIENCE_MS = 60_000

let shared: Promise<Browser> | undefined

/**
 * A real Chromium, whose windows are closed at the test's end. Test files of one process have the same one, one after
 * another: a window has the cookies, files and storage of no other. With arguments it is one of its own.
 */
export async function openBrowser(t: Test, args: readonly string[] = []): Promise<Browser> {
  if (args.length > 0) {
    const own = await launchBrowser(args)
    t.teardown(() => own.close())
    return own
  }
  if (shared === undefined || !(await shared).isConnected()) shared = launchForAll()
  const browser = await shared
  const before = new Set(browser.contexts())
  t.teardown(async () => {
    for (const context of browser.contexts()) if (!before.has(context)) await context.close()
  })
  return browser
}

/** A Chromium that is closed when the process has run all its tests. */
async function launchForAll(): Promise<Browser> {
  const { default: tap } = await import('tap')
  const browser = await launchBrowser()
  tap.teardown(() => browser.close())
  return browser
}

/** A real Chromium, which the caller closes. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // Else it ends the process on a signal, which tests of the command line send to themselves.
  const handling = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  if (!BRINGS_ITS_OWN) return chromium.launch({ channel: 'chrome', args: [...args], ...handling })
  return chromium.launch({
    executablePath: await unpacked(),
    args: ['--no-sandbox', '--disable-gpu', ...args],
    ...handling,
  })
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
    // Another process may have taken it for stale.
    await rmdir(LOCK).catch(() => undefined)
  }
}

export type Watched = {
  page: Page
  context: BrowserContext
  /** The browser's error messages: broken policies, failed scripts, missing files. */
  complaints: string[]
}

/** A window with its own cookies, whose error messages are kept. */
export async function openPage(
  browser: Browser,
  viewport = { width: 1_280, height: 800 },
  locale = 'en-GB',
): Promise<Watched> {
  const context = await browser.newContext({ viewport, locale })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // 4xx responses are logged too; the tests check the pages themselves.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
    if ((message.type() === 'error' || message.type() === 'warning') && !isStatus) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints }
}

/** The rules of accessibility that a page breaks, those of WCAG 2.2 AA and good practice, with where it does. */
export async function accessibilityProblems(page: Page, rules: AxeRules = {}): Promise<string[]> {
  const violations = await runAxe(page, rules)
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${impact ?? 'unknown'} ${id}: ${html} ${failureSummary ?? ''}`),
  )
}

/** The rule of contrast: the only one of axe that depends on the colours. */
export const CONTRAST = 'color-contrast'
