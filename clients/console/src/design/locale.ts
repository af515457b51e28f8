/**
 * Some browsers report a language that `Intl` refuses: Chromium without LANG says `en-US@posix`. uPlot passes
 * it to `Intl` as soon as it is loaded, so this module is imported before it.
 */
export const isLanguage = (tag: string | undefined): boolean => {
  try {
    return tag !== undefined && Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

if ('navigator' in globalThis && !isLanguage(navigator.language))
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
