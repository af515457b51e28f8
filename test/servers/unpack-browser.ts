import chromium from '@sparticuz/chromium'

/** Run by browser.ts: unpacks Chromium into `TMPDIR`. */
await chromium.executablePath()
