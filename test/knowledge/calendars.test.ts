import { describe, expect, it } from 'vitest'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'

async function read(name: string, lines: string[] | Buffer): Promise<string[]> {
  const found: string[] = []
  const content = Buffer.isBuffer(lines) ? lines : Buffer.from(lines.join('\r\n'))
  for await (const { text } of extractBlocks(content, name)) found.push(text)
  return found
}
const calendar = (...lines: string[]) =>
  read('team.ics', ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''])
const event = (...lines: string[]) => calendar('BEGIN:VEVENT', 'SUMMARY:Dredging', ...lines, 'END:VEVENT')
const contact = (...lines: string[]) => read('people.vcf', ['BEGIN:VCARD', ...lines, 'END:VCARD', ''])

describe('a calendar', () => {
  it('has its name, and a row for each event with its place and persons', async () => {
    const found = await calendar(
      'X-WR-CALNAME:Harbour\\, west',
      'BEGIN:VTIMEZONE',
      'TZID:Europe/Oslo',
      'BEGIN:STANDARD',
      'DTSTART:19701025T030000',
      'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
      'END:STANDARD',
      'END:VTIMEZONE',
      'BEGIN:VEVENT',
      'UID:1@example.org',
      'SUMMARY:Pilots and tugs: the ',
      ' winter plan',
      'DTSTART;TZID=Europe/Oslo:20260304T100000',
      'DTEND;TZID=Europe/Oslo:20260304T113000',
      'LOCATION:Room 214\\; second floor',
      'ORGANIZER;CN="Byron, Ada":mailto:ada@example.org',
      'ATTENDEE;CN=Bo;PARTSTAT=DECLINED;ROLE=REQ-PARTICIPANT:MAILTO:bo@example.org',
      'ATTENDEE:mailto:cy@example.org',
      'DESCRIPTION:Bring the charts.\\nThe gate code is 5120.',
      'BEGIN:VALARM',
      'DESCRIPTION:Reminder',
      'TRIGGER:-PT15M',
      'END:VALARM',
      'END:VEVENT',
      'BEGIN:VTODO',
      'SUMMARY:Order rope',
      'DUE:20260310T090000Z',
      'STATUS:NEEDS-ACTION',
      'END:VTODO',
    )
    expect(found).toEqual([
      'Harbour, west',
      'Event: Pilots and tugs: the winter plan; Start: 2026-03-04 10:00 Europe/Oslo; End: 2026-03-04 11:30 Europe/Oslo; ' +
        'Place: Room 214; second floor; Organizer: Byron, Ada <ada@example.org>; ' +
        'Attendees: Bo <bo@example.org> (declined), cy@example.org; ' +
        'Description: Bring the charts.\nThe gate code is 5120.',
      'Task: Order rope; Due: 2026-03-10 09:00 UTC; Status: needs-action',
    ])
  })

  it.each([
    ['DTEND;VALUE=DATE:20260306', '2026-03-05'],
    ['DTEND;VALUE=DATE:20260304', '2026-03-04'],
    ['DTEND;VALUE=DATE:20260401', '2026-03-31'],
  ])('says the last of whole days, which is before its end: %s', async (end, last) => {
    expect(await event('DTSTART;VALUE=DATE:20260304', end)).toEqual([
      `Event: Dredging; Start: 2026-03-04; Last day: ${last}`,
    ])
  })

  it.each([
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;UNTIL=20261231T230000Z;WKST=MO',
      'every 2 weeks on Monday, Friday until 2026-12-31 23:00 UTC',
    ],
    ['FREQ=MONTHLY;BYDAY=2TU;COUNT=10', 'every month on second Tuesday 10 times'],
    ['FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU', 'every year in March on last Sunday'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'every month on the last day'],
    ['FREQ=MONTHLY;BYMONTHDAY=1,15', 'every month on day 1, 15'],
    ['FREQ=DAILY;BYSETPOS=1', 'every day BYSETPOS=1'],
    ['sometimes', 'sometimes'],
  ])('says how an event repeats: %s', async (rule, words) => {
    expect(await event(`RRULE:${rule}`)).toEqual([`Event: Dredging; Repeats: ${words}`])
  })

  it('says which repetitions are left out, and how long one takes', async () => {
    expect(
      await event('DTSTART:20260304T100000Z', 'DURATION:P1DT2H1M', 'EXDATE:20260311T100000Z,20260318T100000Z'),
    ).toEqual([
      'Event: Dredging; Start: 2026-03-04 10:00 UTC; Duration: 1 day 2 hours 1 minute; ' +
        'Not on: 2026-03-11 10:00 UTC, 2026-03-18 10:00 UTC',
    ])
  })

  it('that was cut keeps what was said, and one that says nothing has no text', async () => {
    const cut = await read('a.ics', ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'SUMMARY:Sluice', 'DTSTART:2026'])
    expect(cut).toEqual(['Event: Sluice; Start: 2026'])
    await expect(calendar()).rejects.toMatchObject({ reason: 'no_text' })
  })

  it('is told by its content, in a mail too', async () => {
    const mail = [
      'Subject: Invitation',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'Please come.',
      '--b',
      'Content-Type: text/calendar; charset=utf-8; method=REQUEST',
      'Content-Disposition: attachment; filename=invite.ics',
      '',
      'BEGIN:VCALENDAR',
      'BEGIN:VEVENT',
      'SUMMARY:Sluice',
      'DTSTART:20260304T100000Z',
      'END:VEVENT',
      'END:VCALENDAR',
      '--b--',
      '',
    ]
    expect(await read('mail.eml', mail)).toContain('Event: Sluice; Start: 2026-03-04 10:00 UTC')
  })
})

describe('a contact', () => {
  it('is a row of what is told of it, without pictures', async () => {
    const found = await contact(
      'VERSION:3.0',
      'N:Byron;Ada;;Dr.;',
      'FN:Dr. Ada Byron',
      'ORG:Harbour Group;West basin',
      'TITLE:Engineer\\, pilot',
      'TEL;TYPE=WORK,VOICE:+47 22 00 51 20',
      'item1.EMAIL;TYPE=INTERNET:ada@example.org',
      'item1.X-ABLabel:_$!<Club>!$_',
      'ADR;TYPE=home:;;Quay 7;Oslo;;0150;Norway',
      'BDAY:19850317',
      `PHOTO;ENCODING=b;TYPE=JPEG:${'QUJD'.repeat(20)}`,
      ` ${'QUJD'.repeat(20)}`,
      'NOTE:Key 4711\\nunder the mat',
    )
    expect(found).toEqual([
      'Contact: Dr. Ada Byron; Company: Harbour Group, West basin; Title: Engineer, pilot; ' +
        'Phone (work): +47 22 00 51 20; Email (Club): ada@example.org; Address (home): Quay 7, Oslo, 0150, Norway; ' +
        'Birthday: 1985-03-17; Note: Key 4711\nunder the mat',
    ])
  })

  it('of version 2.1 has its letters', async () => {
    const found = await contact(
      'VERSION:2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg',
      'TEL;HOME;FAX:+49 30 5120',
      'NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Schl=FCssel im =',
      'Hafenb=FCro=0D=0ANummer 7',
    )
    expect(found).toEqual([
      'Contact: Jörg Müller; Phone (home, fax): +49 30 5120; Note: Schlüssel im Hafenbüro\nNummer 7',
    ])
  })

  it('of a text that only begins like one is text', async () => {
    expect(await read('people.vcf', ['BEGINNING: nothing'])).toEqual(['BEGINNING: nothing'])
  })
})

describe('a form of a page', () => {
  it('has its values, ticks and choices beside their labels', async () => {
    const html = `<form><label>Name</label><input value="Ada Byron"><input type=hidden name=token value=9f3a>
      <p>Boat <select><option>Sail<option selected>Tug<option>Ferry</select></p>
      <p><input type=checkbox checked> Insured <input type="CHECKBOX"> Crewed</p>
      <p>Password <input type=password value=secret> Remarks <textarea>Berth 7 &amp; 8</textarea></p>
      <button>Send</button><input type=submit value=Save></form>`
    expect(await read('form.html', Buffer.from(html))).toEqual([
      'Name Ada Byron',
      'Boat Tug',
      '[x] Insured [ ] Crewed',
      'Password Remarks Berth 7 & 8',
    ])
    const table = '<table><tr><td>Fee<td><input value=120><tr><td>Paid<td><input type=radio checked></table>'
    expect(await read('form.html', Buffer.from(table))).toEqual(['Fee: 120', 'Paid: [x]'])
  })
})
