/** A text that came from elsewhere, as JSON; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The same, or the text itself where it is no JSON. */
export function jsonOrText(text: string): unknown {
  const json = parsedJson(text)
  return json === undefined ? text : json
}
