import type { Language } from '../domain/languages.ts'
import type { ScheduleRunStatus } from '../domain/records/schedule.ts'

interface MailMessages {
  verification: { subject: string; intro: string; note: string }
  passwordReset: { subject: string; intro: string; note: string }
  invitation: { subject: string; intro: string; note: string }
  accountDeleted: { subject: string; intro: string; note: string }
  result: {
    subject: string
    noAnswer: (outcome: string) => string
    outcomes: Record<ScheduleRunStatus | 'unknown', string>
    runOf: (time: string) => string
    stop: string
  }
}

const en: MailMessages = {
  verification: {
    subject: 'Your verification code',
    intro: 'Your verification code is:',
    note: 'It is valid for 15 minutes. If you did not sign up, ignore this mail.',
  },
  passwordReset: {
    subject: 'Choose a new password',
    intro: 'Open this link to choose a new password:',
    note: 'It works once, within an hour. If you did not request it, ignore this mail: your password does not change.',
  },
  invitation: {
    subject: 'You are invited to a project',
    intro: 'Somebody invites you to use a project together. Log in or sign up with this address, and open this link:',
    note: 'It works once, within seven days. If you do not know who could have invited you, ignore this mail.',
  },
  accountDeleted: {
    subject: 'Your account is deleted',
    intro: 'Your account with this address is deleted, and so is everything in it: assistants, files and chats.',
    note: 'It cannot be brought back. If you did not ask for this, tell those who run this service.',
  },
  result: {
    subject: 'Your schedule',
    noAnswer: (outcome) => `There is no answer (${outcome}).`,
    outcomes: {
      pending: 'pending',
      running: 'running',
      interrupted: 'interrupted',
      success: 'success',
      error: 'error',
      cancelled: 'cancelled',
      refused: 'refused',
      gone: 'gone',
      unknown: 'unknown',
    },
    runOf: (time) => `The run of ${time}.`,
    stop: 'Stop these mails',
  },
}

const de: MailMessages = {
  verification: {
    subject: 'Dein Bestätigungscode',
    intro: 'Dein Bestätigungscode lautet:',
    note: 'Er gilt 15 Minuten lang. Wenn du dich nicht registriert hast, ignoriere diese E-Mail.',
  },
  passwordReset: {
    subject: 'Neues Passwort wählen',
    intro: 'Öffne diesen Link, um ein neues Passwort zu wählen:',
    note: 'Er funktioniert einmal, innerhalb einer Stunde. Wenn du ihn nicht angefordert hast, ignoriere diese E-Mail: Dein Passwort ändert sich nicht.',
  },
  invitation: {
    subject: 'Du bist in ein Projekt eingeladen',
    intro:
      'Jemand lädt dich ein, ein Projekt gemeinsam zu nutzen. Melde dich mit dieser Adresse an oder registriere dich, und öffne diesen Link:',
    note: 'Er funktioniert einmal, innerhalb von sieben Tagen. Wenn du nicht weißt, wer dich eingeladen haben könnte, ignoriere diese E-Mail.',
  },
  accountDeleted: {
    subject: 'Dein Konto ist gelöscht',
    intro: 'Dein Konto mit dieser Adresse ist gelöscht, und mit ihm alles darin: Assistenten, Dateien und Chats.',
    note: 'Es lässt sich nicht wiederherstellen. Wenn du das nicht wolltest, sag es denen, die diesen Dienst betreiben.',
  },
  result: {
    subject: 'Dein Zeitplan',
    noAnswer: (outcome) => `Es gibt keine Antwort (${outcome}).`,
    outcomes: {
      pending: 'ausstehend',
      running: 'läuft',
      interrupted: 'unterbrochen',
      success: 'erfolgreich',
      error: 'Fehler',
      cancelled: 'abgebrochen',
      refused: 'abgelehnt',
      gone: 'nicht mehr vorhanden',
      unknown: 'unbekannt',
    },
    runOf: (time) => `Der Lauf vom ${time}.`,
    stop: 'Diese E-Mails abbestellen',
  },
}

const fr: MailMessages = {
  verification: {
    subject: 'Votre code de confirmation',
    intro: 'Votre code de confirmation :',
    note: 'Il est valable 15 minutes. Si vous ne vous êtes pas inscrit, ignorez cet e-mail.',
  },
  passwordReset: {
    subject: 'Choisir un nouveau mot de passe',
    intro: 'Ouvrez ce lien pour choisir un nouveau mot de passe :',
    note: 'Il fonctionne une fois, pendant une heure. Si vous ne l’avez pas demandé, ignorez cet e-mail : votre mot de passe ne change pas.',
  },
  invitation: {
    subject: 'Vous êtes invité à rejoindre un projet',
    intro:
      'Quelqu’un vous invite à utiliser ensemble un projet. Connectez-vous ou inscrivez-vous avec cette adresse, puis ouvrez ce lien :',
    note: 'Il fonctionne une fois, pendant sept jours. Si vous ne savez pas qui a pu vous inviter, ignorez cet e-mail.',
  },
  accountDeleted: {
    subject: 'Votre compte est supprimé',
    intro:
      'Votre compte avec cette adresse est supprimé, ainsi que tout ce qu’il contenait : assistants, fichiers et discussions.',
    note: 'Il ne peut pas être rétabli. Si vous ne l’avez pas demandé, prévenez ceux qui gèrent ce service.',
  },
  result: {
    subject: 'Votre planification',
    noAnswer: (outcome) => `Il n’y a pas de réponse (${outcome}).`,
    outcomes: {
      pending: 'en attente',
      running: 'en cours',
      interrupted: 'interrompue',
      success: 'réussie',
      error: 'erreur',
      cancelled: 'annulée',
      refused: 'refusée',
      gone: 'supprimée',
      unknown: 'inconnue',
    },
    runOf: (time) => `L’exécution du ${time}.`,
    stop: 'Ne plus recevoir ces e-mails',
  },
}

const es: MailMessages = {
  verification: {
    subject: 'Su código de confirmación',
    intro: 'Su código de confirmación es:',
    note: 'Es válido durante 15 minutos. Si no se ha registrado, ignore este correo.',
  },
  passwordReset: {
    subject: 'Elegir una contraseña nueva',
    intro: 'Abra este enlace para elegir una contraseña nueva:',
    note: 'Funciona una vez, durante una hora. Si no lo ha pedido, ignore este correo: su contraseña no cambia.',
  },
  invitation: {
    subject: 'Tiene una invitación a un proyecto',
    intro:
      'Alguien le invita a usar un proyecto en común. Inicie sesión o regístrese con esta dirección, y abra este enlace:',
    note: 'Funciona una vez, durante siete días. Si no sabe quién ha podido invitarle, ignore este correo.',
  },
  accountDeleted: {
    subject: 'Su cuenta está eliminada',
    intro:
      'Su cuenta con esta dirección está eliminada, y con ella todo lo que contenía: asistentes, archivos y chats.',
    note: 'No se puede recuperar. Si no lo ha pedido, avise a quienes gestionan este servicio.',
  },
  result: {
    subject: 'Su programación',
    noAnswer: (outcome) => `No hay respuesta (${outcome}).`,
    outcomes: {
      pending: 'en espera',
      running: 'en curso',
      interrupted: 'interrumpida',
      success: 'correcta',
      error: 'error',
      cancelled: 'cancelada',
      refused: 'rechazada',
      gone: 'eliminada',
      unknown: 'desconocida',
    },
    runOf: (time) => `La ejecución del ${time}.`,
    stop: 'Dejar de recibir estos correos',
  },
}

/** The words of all mails. The compiler demands each text in each language. */
export const mailMessages: Record<Language, MailMessages> = { en, de, fr, es }

/** A moment as a mail of that language shows it, such as "November 25, 2026 at 07:00 GMT+1". */
export function mailTime(moment: Date, language: Language, timeZone: string): string {
  return moment.toLocaleString(language, {
    timeZone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  })
}
