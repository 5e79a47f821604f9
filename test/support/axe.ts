import { createRequire } from 'node:module'
import type { Frame, Page } from 'playwright-core'

/*
 * axe-core in every frame of a page. Its package for Playwright sends half a megabyte of source to each frame for each
 * look, and ends each look in an empty page of its own; here the source goes to a frame once.
 */
const fromBuilder = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'))
const { source }: { source: string } = fromBuilder('axe-core')

/** The rules to check: all, these alone, or all but these. */
export type AxeRules = { only?: readonly string[]; without?: readonly string[] }

type Violation = { id: string; impact?: string | null; nodes: { html: string; failureSummary?: string }[] }
type Context = { frameSelector: unknown; frameContext: unknown }

/** The violations in a page and in all frames in it. */
export async function runAxe(page: Page, { only, without = [] }: AxeRules = {}): Promise<Violation[]> {
  const options = {
    ...(only === undefined ? {} : { runOnly: { type: 'rule', values: only } }),
    rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
  }
  const partials = await partialsOf(page.mainFrame(), { include: [], exclude: [] }, options)
  return page.evaluate(
    `axe.finishRun(${JSON.stringify(partials)}, ${JSON.stringify(options)}).then((r) => r.violations)`,
  )
}

/** What each frame found, a frame before those in it: the order that axe puts them together in. */
async function partialsOf(frame: Frame, context: unknown, options: unknown): Promise<unknown[]> {
  if (!(await frame.evaluate("typeof window.axe?.runPartial === 'function'"))) await frame.evaluate(source)
  const [within, optionsJson] = [JSON.stringify(context), JSON.stringify(options)]
  const inner: Context[] = await frame.evaluate(`axe.utils.getFrameContexts(${within})`)
  const partials: unknown[] = [await frame.evaluate(`axe.runPartial(${within}, ${optionsJson})`)]
  for (const { frameSelector, frameContext } of inner) {
    const element = (await frame.evaluateHandle(`axe.utils.shadowSelect(${JSON.stringify(frameSelector)})`)).asElement()
    const child = await element?.contentFrame()
    if (child === undefined || child === null) throw new Error(`no frame at ${JSON.stringify(frameSelector)}`)
    partials.push(...(await partialsOf(child, frameContext, options)))
  }
  return partials
}
