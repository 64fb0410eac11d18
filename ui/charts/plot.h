// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// QCustomPlot's header uses the Qt keywords that QT_NO_KEYWORDS takes away. They live only while it is read.
#include <QtCore/qforeach.h>
#include <QtGlobal>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef emit
#undef foreach
