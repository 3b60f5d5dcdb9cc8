package top

import "charm.land/lipgloss/v2"

// paint gives text its style. The zero value leaves text as it is. The colours are of the sixteen
// that a terminal's owner chose to be readable; whether they reach it is for the terminal's writer.
type paint struct{ on bool }

var (
	styleTitle   = lipgloss.NewStyle().Bold(true)
	styleHeading = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Cyan)
	styleGood    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleWarning = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	styleBad     = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
)

func (p paint) with(style lipgloss.Style, text string) string {
	if !p.on {
		return text
	}
	return style.Render(text)
}

func (p paint) title(text string) string   { return p.with(styleTitle, text) }
func (p paint) heading(text string) string { return p.with(styleHeading, text) }

// warnIf and badIf mark what needs a look.
func (p paint) warnIf(marked bool, text string) string {
	if !marked {
		return text
	}
	return p.with(styleWarning, text)
}

func (p paint) badIf(marked bool, text string) string {
	if !marked {
		return text
	}
	return p.with(styleBad, text)
}

// share marks a text by how much of a bound is used.
func (p paint) share(share float64, text string) string {
	switch {
	case share >= 0.9:
		return p.with(styleBad, text)
	case share >= 0.5:
		return p.with(styleWarning, text)
	}
	return p.with(styleGood, text)
}
