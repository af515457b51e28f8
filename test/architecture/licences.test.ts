import { readFileSync } from 'node:fs'
import test from 'ava'
import { allowedLicences, licencesPage, licencesText, licensedPackages } from '../licences.ts'

test('every package has a licence that is allowed here', t => {
  const packages = licensedPackages()
  t.true(packages.length > 100)
  t.deepEqual(
    packages.filter(({ licence }) => !allowedLicences.has(licence)),
    [],
  )
})

test('the page of licences lists the installed packages', t => {
  t.is(readFileSync(licencesPage, 'utf8'), licencesText(), 'run node test/licences.ts')
})
